"""The mathematics of composition: laws of the privacy loss, measures on a grid, products of integers.

A law is cut into cells and becomes integers on a grid of losses. They are rounded so that they dominate it
from above, and bound it by labels from below. Products of polynomials compose them; grids grow coarser as
fewer copies are left. Doubles choose the grid, and no bound rests on them. Why it is right:
``docs/theory/composition.md``.
"""
