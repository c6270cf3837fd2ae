"""The mimicking formula of a state."""
