"""Exact, certified privacy bounds for probabilistic systems from bisimilarity distances.

The names below are imported when they are first used: ``import bisimdist`` alone loads no other module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bisimdist.analysis.answer import DistanceAnswer as DistanceAnswer
    from bisimdist.analysis.answer import PairBound as PairBound
    from bisimdist.analysis.answer import Status as Status
    from bisimdist.analysis.answer import ThresholdAnswer as ThresholdAnswer
    from bisimdist.analysis.delta import DeltaAnswer as DeltaAnswer
    from bisimdist.analysis.delta import delta as delta
    from bisimdist.analysis.distances import bd_threshold as bd_threshold
    from bisimdist.analysis.distances import bound as bound
    from bisimdist.analysis.hmm import epsilon as epsilon
    from bisimdist.analysis.hmm import verify as verify
    from bisimdist.analysis.hmm_proofs import for_all_lengths as for_all_lengths
    from bisimdist.analysis.hmm_proofs import mechanism_budget as mechanism_budget
    from bisimdist.analysis.metric import MetricAnswer as MetricAnswer
    from bisimdist.analysis.metric import metric as metric
    from bisimdist.analysis.profile import ProfileAnswer as ProfileAnswer
    from bisimdist.analysis.profile import least_alpha as least_alpha
    from bisimdist.analysis.profile import profile as profile
    from bisimdist.checker import check_certificate as check_certificate
    from bisimdist.errors import BisimdistError as BisimdistError
    from bisimdist.errors import LimitError as LimitError
    from bisimdist.errors import ModelError as ModelError
    from bisimdist.errors import NumberError as NumberError
    from bisimdist.errors import NumberTypeError as NumberTypeError
    from bisimdist.errors import UsageError as UsageError
    from bisimdist.exact.logarithm import alpha_above as alpha_above
    from bisimdist.exact.logarithm import alpha_below as alpha_below
    from bisimdist.exact.logarithm import log_enclosure as log_enclosure
    from bisimdist.models.bisimilarity import bisimilarity_classes as bisimilarity_classes
    from bisimdist.models.bisimilarity import quotient as quotient
    from bisimdist.models.hmm import HMM as HMM
    from bisimdist.models.io import load_model as load_model
    from bisimdist.models.io import parse_model as parse_model
    from bisimdist.models.io import write_model as write_model
    from bisimdist.models.library.registry import build_any_example as build_any_example
    from bisimdist.models.library.registry import build_example as build_example
    from bisimdist.models.library.registry import list_examples as list_examples
    from bisimdist.models.lmc import LMC as LMC
    from bisimdist.models.pa import PA as PA
    from bisimdist.models.pa import action_labelled_lmc as action_labelled_lmc
    from bisimdist.progress import Deadline as Deadline

    __version__: str

_HOMES = {
    "bisimdist.analysis.delta": (
        "DeltaAnswer",
        "delta",
    ),
    "bisimdist.analysis.profile": (
        "ProfileAnswer",
        "least_alpha",
        "profile",
    ),
    "bisimdist.analysis.metric": (
        "MetricAnswer",
        "metric",
    ),
    "bisimdist.analysis.hmm": (
        "epsilon",
        "verify",
    ),
    "bisimdist.analysis.hmm_proofs": (
        "for_all_lengths",
        "mechanism_budget",
    ),
    "bisimdist.models.hmm": ("HMM",),
    "bisimdist.checker": ("check_certificate",),
    "bisimdist.errors": (
        "BisimdistError",
        "LimitError",
        "ModelError",
        "NumberError",
        "NumberTypeError",
        "UsageError",
    ),
    "bisimdist.exact.logarithm": ("alpha_above", "alpha_below", "log_enclosure"),
    "bisimdist.analysis.answer": ("DistanceAnswer", "PairBound", "Status", "ThresholdAnswer"),
    "bisimdist.analysis.distances": ("bd_threshold", "bound"),
    "bisimdist.models.bisimilarity": ("bisimilarity_classes", "quotient"),
    "bisimdist.models.io": ("load_model", "parse_model", "write_model"),
    "bisimdist.models.library.registry": ("build_any_example", "build_example", "list_examples"),
    "bisimdist.models.lmc": ("LMC",),
    "bisimdist.models.pa": ("PA", "action_labelled_lmc"),
    "bisimdist.progress": ("Deadline",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "HMM",
    "LMC",
    "PA",
    "BisimdistError",
    "Deadline",
    "DeltaAnswer",
    "DistanceAnswer",
    "LimitError",
    "MetricAnswer",
    "ModelError",
    "NumberError",
    "NumberTypeError",
    "PairBound",
    "ProfileAnswer",
    "Status",
    "ThresholdAnswer",
    "UsageError",
    "__version__",
    "action_labelled_lmc",
    "alpha_above",
    "alpha_below",
    "bd_threshold",
    "bisimilarity_classes",
    "bound",
    "build_any_example",
    "build_example",
    "check_certificate",
    "delta",
    "epsilon",
    "for_all_lengths",
    "least_alpha",
    "list_examples",
    "load_model",
    "log_enclosure",
    "mechanism_budget",
    "metric",
    "parse_model",
    "profile",
    "quotient",
    "verify",
    "write_model",
]


if not TYPE_CHECKING:  # a type checker takes the names from above, and refuses all others

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415

            value = version("bisimdist")
        elif name in _HOME_OF:
            value = getattr(import_module(_HOME_OF[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
