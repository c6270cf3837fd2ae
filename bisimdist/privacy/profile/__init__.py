"""Delta as a function of epsilon."""
