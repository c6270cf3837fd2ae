"""Samples of the real thing, held against the proof of a model."""
