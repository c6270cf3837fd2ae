"""Least fixed points of liftings: guessed fast, made exact, proved least."""
