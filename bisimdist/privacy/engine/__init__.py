"""The true delta of a chain from both sides, and what follows from it: profile, losses, trade-off, runs.

An information state is a signed vector: the masses of two states after the same labels, one of them times
alpha. Delta (CMP18, Definition 5) is a value on the graph of these vectors, with bounds at its leaves from
distances, likelihood ratios or the greatest solution; the event behind it is read off the graph. From all
losses follow delta at every epsilon and under composition. Why it is right: ``docs/theory/delta.md``.
"""
