"""Exact, certified privacy bounds for probabilistic systems from bisimilarity distances.

The names below are imported when they are first used: ``import bisimdist`` alone loads no other module.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # typing takes longer to load than all the rest, and no signal is heard meanwhile

if TYPE_CHECKING:
    from bisimdist.analysis.all_lengths_answer import AllLengthsAnswer as AllLengthsAnswer
    from bisimdist.analysis.answer import Status as Status
    from bisimdist.analysis.audit import Audit as Audit
    from bisimdist.analysis.audit import Distinguisher as Distinguisher
    from bisimdist.analysis.audit import audit as audit
    from bisimdist.analysis.audit import distinguisher as distinguisher
    from bisimdist.analysis.compare import Compared as Compared
    from bisimdist.analysis.compare import Comparison as Comparison
    from bisimdist.analysis.compare import compare as compare
    from bisimdist.analysis.crosscheck import crosscheck as crosscheck
    from bisimdist.analysis.crosscheck_answer import CheckedPair as CheckedPair
    from bisimdist.analysis.crosscheck_answer import CrosscheckAnswer as CrosscheckAnswer
    from bisimdist.analysis.delta import DeltaAnswer as DeltaAnswer
    from bisimdist.analysis.delta import delta as delta
    from bisimdist.analysis.delta_answer import DeltaBound as DeltaBound
    from bisimdist.analysis.distance_answer import DistanceAnswer as DistanceAnswer
    from bisimdist.analysis.distance_answer import ThresholdAnswer as ThresholdAnswer
    from bisimdist.analysis.distances import bd_threshold as bd_threshold
    from bisimdist.analysis.distances import bound as bound
    from bisimdist.analysis.distinctions import Distinction as Distinction
    from bisimdist.analysis.distinctions import DistinctionAnswer as DistinctionAnswer
    from bisimdist.analysis.distinctions import distinguishing_formula as distinguishing_formula
    from bisimdist.analysis.distinctions import explain as explain
    from bisimdist.analysis.distribution_formulae import DistributionAnswer as DistributionAnswer
    from bisimdist.analysis.distribution_formulae import TransitionsAnswer as TransitionsAnswer
    from bisimdist.analysis.distribution_formulae import distribution_satisfies as distribution_satisfies
    from bisimdist.analysis.distribution_formulae import satisfying_transitions as satisfying_transitions
    from bisimdist.analysis.formulae import FormulaBound as FormulaBound
    from bisimdist.analysis.formulae import MimickingAnswer as MimickingAnswer
    from bisimdist.analysis.formulae import formula_distance as formula_distance
    from bisimdist.analysis.formulae import logical_distance as logical_distance
    from bisimdist.analysis.formulae import mimicking_formula as mimicking_formula
    from bisimdist.analysis.generalised import GeneralisedAnswer as GeneralisedAnswer
    from bisimdist.analysis.generalised import GeneralisedBound as GeneralisedBound
    from bisimdist.analysis.generalised import generalised_metric as generalised_metric
    from bisimdist.analysis.hmm import epsilon as epsilon
    from bisimdist.analysis.hmm import verify as verify
    from bisimdist.analysis.hmm_answer import BudgetAnswer as BudgetAnswer
    from bisimdist.analysis.hmm_answer import Verdict as Verdict
    from bisimdist.analysis.hmm_answer import VerifyAnswer as VerifyAnswer
    from bisimdist.analysis.hmm_proofs import for_all_lengths as for_all_lengths
    from bisimdist.analysis.leakage import leakage as leakage
    from bisimdist.analysis.leakage_answer import LeakageAnswer as LeakageAnswer
    from bisimdist.analysis.leakage_bounds import LeakageBound as LeakageBound
    from bisimdist.analysis.mechanism_budget import MechanismBudget as MechanismBudget
    from bisimdist.analysis.mechanism_budget import mechanism_budget as mechanism_budget
    from bisimdist.analysis.metric import metric as metric
    from bisimdist.analysis.metric_answer import MetricAnswer as MetricAnswer
    from bisimdist.analysis.metric_answer import MetricBound as MetricBound
    from bisimdist.analysis.minimisation import MinimiseAnswer as MinimiseAnswer
    from bisimdist.analysis.minimisation import minimise as minimise
    from bisimdist.analysis.pair_bounds import PairBound as PairBound
    from bisimdist.analysis.pair_program import PairProgram as PairProgram
    from bisimdist.analysis.pair_program import pair_program as pair_program
    from bisimdist.analysis.parametric import delta_for_all as delta_for_all
    from bisimdist.analysis.parametric import delta_over as delta_over
    from bisimdist.analysis.parametric import synthesise as synthesise
    from bisimdist.analysis.parametric_answer import BestAnswer as BestAnswer
    from bisimdist.analysis.parametric_answer import BoxAnswer as BoxAnswer
    from bisimdist.analysis.parametric_answer import PiecesAnswer as PiecesAnswer
    from bisimdist.analysis.playing import played as played
    from bisimdist.analysis.profile import ProfileAnswer as ProfileAnswer
    from bisimdist.analysis.profile import profile as profile
    from bisimdist.analysis.profile_answer import ProfilePoint as ProfilePoint
    from bisimdist.analysis.program_budget import ProgramBudget as ProgramBudget
    from bisimdist.analysis.program_budget import program_budget as program_budget
    from bisimdist.analysis.proof_pictures import Picture as Picture
    from bisimdist.analysis.robustness import RobustnessAnswer as RobustnessAnswer
    from bisimdist.analysis.robustness import robustness as robustness
    from bisimdist.analysis.satisfaction import SatisfactionAnswer as SatisfactionAnswer
    from bisimdist.analysis.satisfaction import satisfies as satisfies
    from bisimdist.analysis.satisfaction import satisfying as satisfying
    from bisimdist.analysis.secrets import SecretPrivacyAnswer as SecretPrivacyAnswer
    from bisimdist.analysis.secrets import secret_privacy as secret_privacy
    from bisimdist.analysis.secrets_answer import SecretPair as SecretPair
    from bisimdist.analysis.threshold_search import LeastAlpha as LeastAlpha
    from bisimdist.analysis.threshold_search import least_alpha as least_alpha
    from bisimdist.analysis.trace_equivalence import TraceEquivalenceAnswer as TraceEquivalenceAnswer
    from bisimdist.analysis.trace_equivalence import trace_classes as trace_classes
    from bisimdist.analysis.trace_equivalence import trace_equivalence as trace_equivalence
    from bisimdist.analysis.trace_logic import TraceSatisfactionsAnswer as TraceSatisfactionsAnswer
    from bisimdist.analysis.trace_logic import logical_distances as logical_distances
    from bisimdist.analysis.trace_logic import satisfies_trace_formula as satisfies_trace_formula
    from bisimdist.analysis.trace_logic import satisfies_trace_formulae as satisfies_trace_formulae
    from bisimdist.analysis.trace_logic import trace_formulae as trace_formulae
    from bisimdist.analysis.trace_logic_answer import TraceFormulaeAnswer as TraceFormulaeAnswer
    from bisimdist.analysis.trace_logic_answer import TraceSatisfaction as TraceSatisfaction
    from bisimdist.analysis.trace_metric import trace_metric as trace_metric
    from bisimdist.analysis.trace_metric import weak_anonymity as weak_anonymity
    from bisimdist.analysis.trace_metric_answer import TraceBound as TraceBound
    from bisimdist.analysis.trace_metric_answer import TraceMetricAnswer as TraceMetricAnswer
    from bisimdist.analysis.trace_metric_answer import WeakAnonymityAnswer as WeakAnonymityAnswer
    from bisimdist.checker import check_certificate as check_certificate
    from bisimdist.checker.core.shape import CheckReport as CheckReport
    from bisimdist.cli.schemas import json_schema as json_schema
    from bisimdist.errors import BisimdistError as BisimdistError
    from bisimdist.errors import LimitError as LimitError
    from bisimdist.errors import ModelError as ModelError
    from bisimdist.errors import NumberError as NumberError
    from bisimdist.errors import NumberTypeError as NumberTypeError
    from bisimdist.errors import StoppedError as StoppedError
    from bisimdist.errors import UsageError as UsageError
    from bisimdist.exact.logarithm import alpha_above as alpha_above
    from bisimdist.exact.logarithm import alpha_below as alpha_below
    from bisimdist.exact.logarithm import log_enclosure as log_enclosure
    from bisimdist.exact.number import Exact as Exact
    from bisimdist.logic.equations import EquationSystem as EquationSystem
    from bisimdist.logic.formula import DistributionFormula as DistributionFormula
    from bisimdist.logic.formula import StateFormula as StateFormula
    from bisimdist.logic.formula_parser import parse_distribution_formula as parse_distribution_formula
    from bisimdist.logic.formula_parser import parse_formula as parse_formula
    from bisimdist.logic.linear import LinearFormula as LinearFormula
    from bisimdist.logic.linear import ProbabilisticFormula as ProbabilisticFormula
    from bisimdist.logic.linear_parser import parse_trace_formula as parse_trace_formula
    from bisimdist.logic.linear_semantics import LogicalDistances as LogicalDistances
    from bisimdist.models.against import side_by_side as side_by_side
    from bisimdist.models.all_pairs import AllPairs as AllPairs
    from bisimdist.models.bisimilarity import bisimilarity_classes as bisimilarity_classes
    from bisimdist.models.bisimilarity import quotient as quotient
    from bisimdist.models.conversions import Conversion as Conversion
    from bisimdist.models.conversions import convert as convert
    from bisimdist.models.entries import Parameter as Parameter
    from bisimdist.models.hmm import HMM as HMM
    from bisimdist.models.interactive import Interactive as Interactive
    from bisimdist.models.intervals import IntervalChain as IntervalChain
    from bisimdist.models.io import Reading as Reading
    from bisimdist.models.io import load_automaton as load_automaton
    from bisimdist.models.io import load_chain as load_chain
    from bisimdist.models.io import load_hmm as load_hmm
    from bisimdist.models.io import load_model as load_model
    from bisimdist.models.io import parse_model as parse_model
    from bisimdist.models.io import write_model as write_model
    from bisimdist.models.io import write_umb as write_umb
    from bisimdist.models.io.graph import from_networkx as from_networkx
    from bisimdist.models.io.graph import to_networkx as to_networkx
    from bisimdist.models.library.registry import ExampleInfo as ExampleInfo
    from bisimdist.models.library.registry import build_any_example as build_any_example
    from bisimdist.models.library.registry import build_example as build_example
    from bisimdist.models.library.registry import list_examples as list_examples
    from bisimdist.models.lmc import LMC as LMC
    from bisimdist.models.mechanisms.table import mechanism_model as mechanism_model
    from bisimdist.models.model import WrongKindError as WrongKindError
    from bisimdist.models.pa import PA as PA
    from bisimdist.models.pa import Transition as Transition
    from bisimdist.models.pa import action_labelled_lmc as action_labelled_lmc
    from bisimdist.models.parametric import ParametricChain as ParametricChain
    from bisimdist.programs.analyst import explore_interactive as explore_interactive
    from bisimdist.programs.bent import explore_bent as explore_bent
    from bisimdist.programs.chain import ProgramChain as ProgramChain
    from bisimdist.programs.chain import ProgramInteractive as ProgramInteractive
    from bisimdist.programs.front import explore as explore
    from bisimdist.programs.source import ExactRandom as ExactRandom
    from bisimdist.programs.source import flip as flip
    from bisimdist.programs.source import observe as observe
    from bisimdist.programs.source import pick as pick
    from bisimdist.programs.source import uniform as uniform
    from bisimdist.progress import Deadline as Deadline
    from bisimdist.report.frames import to_pandas as to_pandas
    from bisimdist.report.matrix import Matrix as Matrix
    from bisimdist.report.progress_bar import progress_bar as progress_bar

    __version__: str

_HOMES = {
    "bisimdist.analysis.all_lengths_answer": ("AllLengthsAnswer",),
    "bisimdist.analysis.answer": ("Status",),
    "bisimdist.analysis.audit": (
        "Audit",
        "Distinguisher",
        "audit",
        "distinguisher",
    ),
    "bisimdist.analysis.compare": (
        "Compared",
        "Comparison",
        "compare",
    ),
    "bisimdist.analysis.crosscheck": ("crosscheck",),
    "bisimdist.analysis.crosscheck_answer": (
        "CheckedPair",
        "CrosscheckAnswer",
    ),
    "bisimdist.analysis.delta": (
        "DeltaAnswer",
        "delta",
    ),
    "bisimdist.analysis.delta_answer": ("DeltaBound",),
    "bisimdist.analysis.distance_answer": (
        "DistanceAnswer",
        "ThresholdAnswer",
    ),
    "bisimdist.analysis.distances": (
        "bd_threshold",
        "bound",
    ),
    "bisimdist.analysis.distinctions": (
        "Distinction",
        "DistinctionAnswer",
        "distinguishing_formula",
        "explain",
    ),
    "bisimdist.analysis.distribution_formulae": (
        "DistributionAnswer",
        "TransitionsAnswer",
        "distribution_satisfies",
        "satisfying_transitions",
    ),
    "bisimdist.analysis.formulae": (
        "FormulaBound",
        "MimickingAnswer",
        "formula_distance",
        "logical_distance",
        "mimicking_formula",
    ),
    "bisimdist.analysis.generalised": (
        "GeneralisedAnswer",
        "GeneralisedBound",
        "generalised_metric",
    ),
    "bisimdist.analysis.hmm": (
        "epsilon",
        "verify",
    ),
    "bisimdist.analysis.hmm_answer": (
        "BudgetAnswer",
        "Verdict",
        "VerifyAnswer",
    ),
    "bisimdist.analysis.hmm_proofs": ("for_all_lengths",),
    "bisimdist.analysis.leakage": ("leakage",),
    "bisimdist.analysis.leakage_answer": ("LeakageAnswer",),
    "bisimdist.analysis.leakage_bounds": ("LeakageBound",),
    "bisimdist.analysis.mechanism_budget": (
        "MechanismBudget",
        "mechanism_budget",
    ),
    "bisimdist.analysis.metric": ("metric",),
    "bisimdist.analysis.metric_answer": (
        "MetricAnswer",
        "MetricBound",
    ),
    "bisimdist.analysis.minimisation": (
        "MinimiseAnswer",
        "minimise",
    ),
    "bisimdist.analysis.pair_bounds": ("PairBound",),
    "bisimdist.analysis.pair_program": (
        "PairProgram",
        "pair_program",
    ),
    "bisimdist.analysis.parametric": (
        "delta_for_all",
        "delta_over",
        "synthesise",
    ),
    "bisimdist.analysis.parametric_answer": (
        "BestAnswer",
        "BoxAnswer",
        "PiecesAnswer",
    ),
    "bisimdist.analysis.playing": ("played",),
    "bisimdist.analysis.profile": (
        "ProfileAnswer",
        "profile",
    ),
    "bisimdist.analysis.profile_answer": ("ProfilePoint",),
    "bisimdist.analysis.program_budget": (
        "ProgramBudget",
        "program_budget",
    ),
    "bisimdist.analysis.proof_pictures": ("Picture",),
    "bisimdist.analysis.robustness": (
        "RobustnessAnswer",
        "robustness",
    ),
    "bisimdist.analysis.satisfaction": (
        "SatisfactionAnswer",
        "satisfies",
        "satisfying",
    ),
    "bisimdist.analysis.secrets": (
        "SecretPrivacyAnswer",
        "secret_privacy",
    ),
    "bisimdist.analysis.secrets_answer": ("SecretPair",),
    "bisimdist.analysis.threshold_search": (
        "LeastAlpha",
        "least_alpha",
    ),
    "bisimdist.analysis.trace_equivalence": (
        "TraceEquivalenceAnswer",
        "trace_classes",
        "trace_equivalence",
    ),
    "bisimdist.analysis.trace_logic": (
        "TraceSatisfactionsAnswer",
        "logical_distances",
        "satisfies_trace_formula",
        "satisfies_trace_formulae",
        "trace_formulae",
    ),
    "bisimdist.analysis.trace_logic_answer": (
        "TraceFormulaeAnswer",
        "TraceSatisfaction",
    ),
    "bisimdist.analysis.trace_metric": (
        "trace_metric",
        "weak_anonymity",
    ),
    "bisimdist.analysis.trace_metric_answer": (
        "TraceBound",
        "TraceMetricAnswer",
        "WeakAnonymityAnswer",
    ),
    "bisimdist.checker": ("check_certificate",),
    "bisimdist.checker.core.shape": ("CheckReport",),
    "bisimdist.cli.schemas": ("json_schema",),
    "bisimdist.errors": (
        "BisimdistError",
        "LimitError",
        "ModelError",
        "NumberError",
        "NumberTypeError",
        "StoppedError",
        "UsageError",
    ),
    "bisimdist.exact.logarithm": (
        "alpha_above",
        "alpha_below",
        "log_enclosure",
    ),
    "bisimdist.exact.number": ("Exact",),
    "bisimdist.logic.equations": ("EquationSystem",),
    "bisimdist.logic.formula": (
        "DistributionFormula",
        "StateFormula",
    ),
    "bisimdist.logic.formula_parser": (
        "parse_distribution_formula",
        "parse_formula",
    ),
    "bisimdist.logic.linear": (
        "LinearFormula",
        "ProbabilisticFormula",
    ),
    "bisimdist.logic.linear_parser": ("parse_trace_formula",),
    "bisimdist.logic.linear_semantics": ("LogicalDistances",),
    "bisimdist.models.against": ("side_by_side",),
    "bisimdist.models.all_pairs": ("AllPairs",),
    "bisimdist.models.bisimilarity": (
        "bisimilarity_classes",
        "quotient",
    ),
    "bisimdist.models.conversions": (
        "Conversion",
        "convert",
    ),
    "bisimdist.models.entries": ("Parameter",),
    "bisimdist.models.hmm": ("HMM",),
    "bisimdist.models.interactive": ("Interactive",),
    "bisimdist.models.intervals": ("IntervalChain",),
    "bisimdist.models.io": (
        "Reading",
        "load_automaton",
        "load_chain",
        "load_hmm",
        "load_model",
        "parse_model",
        "write_model",
        "write_umb",
    ),
    "bisimdist.models.io.graph": (
        "from_networkx",
        "to_networkx",
    ),
    "bisimdist.models.library.registry": (
        "ExampleInfo",
        "build_any_example",
        "build_example",
        "list_examples",
    ),
    "bisimdist.models.lmc": ("LMC",),
    "bisimdist.models.mechanisms.table": ("mechanism_model",),
    "bisimdist.models.model": ("WrongKindError",),
    "bisimdist.models.parametric": ("ParametricChain",),
    "bisimdist.models.pa": (
        "PA",
        "Transition",
        "action_labelled_lmc",
    ),
    "bisimdist.programs.analyst": ("explore_interactive",),
    "bisimdist.programs.bent": ("explore_bent",),
    "bisimdist.programs.chain": (
        "ProgramChain",
        "ProgramInteractive",
    ),
    "bisimdist.programs.front": ("explore",),
    "bisimdist.programs.source": (
        "ExactRandom",
        "flip",
        "observe",
        "pick",
        "uniform",
    ),
    "bisimdist.progress": ("Deadline",),
    "bisimdist.report.frames": ("to_pandas",),
    "bisimdist.report.matrix": ("Matrix",),
    "bisimdist.report.progress_bar": ("progress_bar",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF), "__version__"]  # noqa: PLE0604  (they are texts)


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
