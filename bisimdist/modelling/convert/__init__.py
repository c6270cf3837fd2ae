"""Models of another kind that behave alike."""
