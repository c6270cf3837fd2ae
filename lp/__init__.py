"""Linear programs of the skewed Kantorovich lifting, solved exactly."""
