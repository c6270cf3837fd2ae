"""What stands between a model as it is given and the few systems that engines know.

A reduction makes a model simpler, and says how a claim about the simpler model becomes a claim about the
model: as it is, or from above only, or through a chain that is named. Engines know nothing of reductions. Why
claims come back is written in ``docs/theory/intervals.md``.
"""
