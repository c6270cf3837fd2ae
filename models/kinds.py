"""Every kind of model there is."""

from __future__ import annotations

from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA

__all__ = ["AnyModel"]

AnyModel = LMC | PA | HMM | Interactive
