"""The probabilistic process calculus CCS_p: terms, their text, and the automata that they stand for."""
