"""Pufferfish privacy: scenarios of data sets, priors and secrets, and the hidden Markov models they make.

After LWZ22: an attacker's priors are conditioned on each secret, and two secrets must not be told apart by
more than the budget. The reduction from satisfiability shows that deciding this is hard; it is another one
than the paper's.
"""

from bisimdist.models.pufferfish.reduction import Clause, satisfiable, unsatisfiability_model
from bisimdist.models.pufferfish.scenario import Scenario, product_prior

__all__ = ["Clause", "Scenario", "product_prior", "satisfiable", "unsatisfiability_model"]
