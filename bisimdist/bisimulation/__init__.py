"""Bisimulations of probabilistic automata: strong, accumulative and amortised, with exact distances."""
