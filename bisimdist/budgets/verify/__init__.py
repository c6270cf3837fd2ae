"""Whether a budget holds for all observation sequences of a length."""
