"""Pufferfish privacy: scenarios of data sets, priors and secrets, and the hidden Markov models they make."""

from bisimdist.models.pufferfish.reduction import Clause, satisfiable, unsatisfiability_model
from bisimdist.models.pufferfish.scenario import Scenario, product_prior

__all__ = ["Clause", "Scenario", "product_prior", "satisfiable", "unsatisfiability_model"]
