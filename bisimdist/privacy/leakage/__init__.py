"""What traces leak by other measures than delta."""
