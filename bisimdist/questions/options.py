"""The options of all commands, each written once: how it is called, what it takes, and how that is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bisimdist.errors import UsageError
from bisimdist.questions import numbers

if TYPE_CHECKING:
    from flint import fmpq

T = TypeVar("T")
TRACE_KINDS = ("multiplicative", "additive")
SECRET_DISTANCES = ("discrete", "hamming", "absolute")
KINDS = ("lmc", "pa", "hmm", "interactive")
ENGINES = ("auto", "exact", "smt", "both")


@dataclass(frozen=True, slots=True)
class OneOf:
    """Reads one of some names."""

    names: tuple[str, ...]
    what: str

    def __call__(self, flag: str, text: str) -> str:
        if text not in self.names:
            *first, last = self.names
            expected = f"{', '.join(first)} or {last}" if first else last
            raise UsageError(f"{flag} {text}: {self.what}; expected {expected}")
        return text


def one_of(*names: str, what: str) -> OneOf:
    """Return a reader that takes one of some names."""
    return OneOf(names, what)


def _as_given(_: str, value: Any) -> Any:
    return value


def _no_file(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Generic[T]):
    """One option of the command line.

    Parameters
    ----------
    name
        What the value is found under.
    flags
        How it is called; the last one is the name in errors.
    metavar
        What stands for its value in help texts; empty for a switch.
    help
        One sentence.
    default
        The value where it is not given.
    type
        ``str`` or ``int``, of every part.
    parts
        Of how many parts a value consists.
    repeatable
        Whether it may be given more than once; its value is a tuple then.
    required
        Whether it has to be given.
    writes
        Whether it names a file to be written.
    file_of
        Returns which file is read for a value.
    read
        Makes the value of the text, given the flag for errors.
    offered
        Values that a shell offers, where `read` does not say which there are.
    """

    name: str
    flags: tuple[str, ...]
    help: str
    metavar: str = ""
    default: Any = None
    type: type = str
    parts: int = 1
    repeatable: bool = False
    required: bool = False
    writes: bool = False
    file_of: Callable[[str], str | None] = _no_file
    read: Callable[[str, Any], T] = _as_given
    offered: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """What a shell offers."""
        return self.read.names if isinstance(self.read, OneOf) else self.offered

    @property
    def flag(self) -> str:
        """What errors call it."""
        return self.flags[-1]

    def but(self, **changes: Any) -> Option[T]:
        """Return the same option with another help text, default or the like."""
        return replace(self, **changes)


def _text(name: str, flag: str, metavar: str, help: str, **more: Any) -> Option[str | None]:
    return Option(name=name, flags=(flag,), metavar=metavar, help=help, **more)


def _switch(name: str, flag: str, help: str) -> Option[bool]:
    return Option(name=name, flags=(flag,), help=help, default=False)


def _whole(name: str, flag: str, metavar: str, help: str, *, least: int, **more: Any) -> Option[int | None]:
    def read(flag: str, value: int | None) -> int | None:
        return value if value is None else numbers.at_least(flag, value, least)

    return Option(name=name, flags=(flag,), metavar=metavar, help=help, type=int, read=read, **more)


JSON = _switch("as_json", "--json", "Print one JSON object.")
PAIR: Option[tuple[tuple[str, str], ...]] = Option(
    name="pairs",
    flags=("--pair",),
    metavar="S T",
    help="A pair of states; repeatable.",
    parts=2,
    repeatable=True,
    read=lambda _, values: tuple(values or ()),
)
STATE_LIMIT = _whole(
    "state_limit", "--state-limit", "N", "States that a .ccsp file may have (50000).", least=1
)
PRISM_LABELS = _switch(
    "prism_labels", "--prism-labels", "Keep the labels init and deadlock, which PRISM itself declares."
)
INPUT_FORMAT: Option[str | None] = Option(
    name="input_format",
    flags=("--input-format", "--format"),
    metavar="NAME",
    help="The format of MODEL, whatever its name says: json, yaml, ccsp, prism, prism-language, jani, ...",
    offered=("json", "yaml", "ccsp", "prism", "prism-language", "jani", "drn", "umb"),
)
TIMEOUT: Option[float | None] = Option(
    name="timeout",
    flags=("--timeout",),
    metavar="SEC",
    help="Stop after so many seconds with what is known by then.",
    read=numbers.seconds,
)
MEMORY: Option[int | None] = Option(
    name="memory",
    flags=("--memory",),
    metavar="MIB",
    help="Stop beyond so much memory with what is known by then.",
    read=numbers.memory_bytes,
)
JOBS: Option[int] = Option(
    name="jobs",
    flags=("--jobs",),
    metavar="N",
    help="Threads to use.",
    type=int,
    default=1,
    read=lambda flag, value: numbers.at_least(flag, value, 1),
)
CERTIFICATE = _text(
    "certificate",
    "--certificate",
    "FILE",
    "Write the proof of the answer, for 'bisimdist check'.",
    writes=True,
)
ALPHA: Option[fmpq | None] = Option(
    name="alpha",
    flags=("--alpha",),
    metavar="A",
    help="The skew: an exact number of at least 1.",
    read=lambda flag, text: None if text is None else numbers.alpha_number(flag, text),
)
EPSILON: Option[fmpq | None] = Option(
    name="epsilon",
    flags=("--epsilon",),
    metavar="E",
    help="Stands for alpha = e^E, rounded to stay sound.",
    read=lambda flag, text: None if text is None else numbers.numbered(flag, text),
)


def _positive(flag: str, text: str | None) -> fmpq | None:
    return numbers.positive_number(flag, text)


def _unit(flag: str, text: str | None) -> fmpq | None:
    return numbers.unit_number(flag, text)


def _open_unit(flag: str, text: str) -> fmpq:
    value = numbers.numbered(flag, text)
    if not 0 < value < 1:
        raise UsageError(f"{flag} {text[:40]}: expected a number between 0 and 1, neither of the two")
    return value


def _any(flag: str, text: str | None) -> fmpq | None:
    return None if text is None else numbers.numbered(flag, text)


def _secret_distance(flag: str, name: str) -> str:
    if name not in SECRET_DISTANCES and not {".", "/"} & set(name):
        raise UsageError(f"{flag} {name}: expected {', '.join(SECRET_DISTANCES)}, or a file with a table")
    return name


def _nonnegative(flag: str, text: str | None) -> fmpq | None:
    return numbers.nonnegative_number(flag, text)


def _number(
    name: str, metavar: str, help: str, read: Callable[[str, Any], fmpq | None]
) -> Option[fmpq | None]:
    return Option(name=name, flags=(f"--{name}",), metavar=metavar, help=help, read=read)


ENDS: Option[str] = Option(
    name="ends",
    flags=("--ends",),
    metavar="SEEN",
    help="Does an observer see that a run has ended: visible or hidden.",
    default="visible",
    read=one_of("visible", "hidden", what="no such way to see ends"),
)
PRECISION = _number(
    "precision", "P", "Be content with bounds at most P apart, in short rationals.", _positive
)
UNIT_THRESHOLD = _number("threshold", "THETA", "Ask only whether the distance is at most THETA.", _unit)
THRESHOLD = _number(
    "threshold", "EPS", "Ask whether the distance is at most EPS (weak anonymity).", _nonnegative
)
GAP = _number("gap", "G", "Stop as soon as upper - lower is at most G.", _unit)
BY_PAPER = _switch("by_paper", "--papers", "List the case studies by paper and figure.")

QUOTIENT = _switch("merge_bisimilar", "--quotient", "Merge bisimilar states first.")
SKEWED_DISTANCE: Option[str] = Option(
    name="distance",
    flags=("--distance",),
    metavar="NAME",
    help="bd or lbd.",
    default="bd",
    read=one_of("bd", "lbd", what="no such distance"),
)
WORST = _switch("worst", "--worst", "Refine only what the largest delta of all pairs depends on.")
ROUNDS: Option[int | None] = Option(
    name="rounds",
    flags=("--rounds",),
    metavar="K",
    help="Interactive models: at most so many actions; by default any number.",
    type=int,
    read=lambda flag, value: None if value is None else numbers.at_least(flag, value, 0),
)
FIXED = _switch("fixed", "--fixed", "With --rounds: the sequence of actions is fixed beforehand.")
BACKEND = _text(
    "backend", "--backend", "NAME", "Another solver proposes couplings: pulp:HiGHS, scipy, z3, ..."
)
PROGRAM_FILE = _text(
    "lp", "--lp", "FILE", "Where to write it: in the format of .mps, or of .lp.", writes=True
)
NATURE: Option[str] = Option(
    name="nature",
    flags=("--nature",),
    metavar="HOW",
    help="Intervals: each-step (nature picks anew, in each world on its own; the default) or fixed.",
    default="each-step",
    read=one_of("each-step", "fixed", what="no such nature"),
)
ALPHAS: Option[tuple[fmpq, ...]] = Option(
    name="alphas",
    flags=ALPHA.flags,
    metavar=ALPHA.metavar,
    help="Where to compute delta; repeatable.",
    repeatable=True,
    read=lambda flag, texts: tuple(numbers.alpha_number(flag, text) for text in texts or ()),
)
EPSILONS: Option[tuple[fmpq, ...]] = Option(
    name="epsilons",
    flags=EPSILON.flags,
    metavar=EPSILON.metavar,
    help="The same by epsilon; repeatable.",
    repeatable=True,
    read=lambda flag, texts: tuple(numbers.numbered(flag, text) for text in texts or ()),
)
POINTS: Option[int] = Option(
    name="points", flags=("--points",), metavar="N", help="Points to choose.", type=int, default=33
)
LARGEST = _number("to", "E", "The largest epsilon of the points to choose.", _positive)
RUNS: Option[int] = Option(
    name="runs", flags=("--runs",), metavar="K", help="Of K independent runs.", type=int, default=1
)
RENYI: Option[tuple[int, ...]] = Option(
    name="orders",
    flags=("--renyi",),
    metavar="ORDERS",
    help="Rényi divergences of these orders too, with commas, and the bound on delta that follows.",
    repeatable=True,
    read=lambda flag, texts: tuple(
        numbers.order_number(flag, part) for text in texts or () for part in text.split(",")
    ),
)
CSV = _text("csv", "--csv", "FILE", "Write what is said of each pair as CSV.", writes=True)
TOP = _whole("top", "--top", "K", "Show only the K pairs with the largest numbers.", least=1)
ALL_PAIRS = _switch("all_pairs", "--all-pairs", "Take all pairs of states.")


def _matrix_file(flag: str, path: str | None) -> str | None:
    if path is None:
        return None
    from bisimdist.report.pictures import PICTURES, picture_format

    picture_format(f"{flag} {path}", (".csv", ".npy", *PICTURES))  # refuses before anything is computed
    return path


MATRIX = _text(
    "matrix",
    "--matrix",
    "FILE",
    "Write the numbers as a matrix, best with --all-pairs: .csv (exact), .npy, or a picture.",
    writes=True,
    read=_matrix_file,
)
PLOT = _text("plot", "--plot", "FILE", "Draw the curve (.svg, .png, .pdf).", writes=True)
LOG = _switch("logarithmic", "--log", "Draw with logarithmic axes.")
TRADE_OFF = _switch("trade_off", "--trade-off", "Draw the trade-off (f-DP) curve as well.")
METRIC_KIND = _text(
    "kind",
    "--kind",
    "KIND",
    "accumulative, amortised, additive or multiplicative.",
    offered=("accumulative", "amortised", "additive", "multiplicative"),
)
DISCOUNT: Option[fmpq] = Option(
    name="discount",
    flags=("--discount",),
    metavar="L",
    help="The factor of a step (1), for additive and multiplicative.",
    read=numbers.discount,
)
RELATION = _text(
    "relation",
    "--relation",
    "FILE",
    "Only check whether this relation is such a bisimulation.",
    file_of=lambda value: value,
)
RATIO = _number("ratio", "C", "The budget: an exact number of at least 1.", _any)
RATIO_FROM_ONE = ALPHA.but(
    name="ratio", flags=("--ratio",), metavar="C", help="The budget; without it any budget will do."
)
BUDGET_EXPONENT = EPSILON.but(help="Stands for the budget e^E.")
LENGTH: Option[int] = Option(
    name="length", flags=("--length",), metavar="K", help="How many observations.", type=int
)
UP_TO = _switch("up_to", "--up-to", "All lengths to K, not only K.")
DISTRIBUTIONS = PAIR.but(metavar="PI TAU", help="Two distributions; repeatable.")
ENGINE: Option[str] = Option(
    name="engine",
    flags=("--engine",),
    metavar="NAME",
    help="exact, smt, both (compare) or auto.",
    default="auto",
    read=one_of(*ENGINES, what="no such engine"),
)
METHOD: Option[str] = Option(
    name="method",
    flags=("--method",),
    metavar="NAME",
    help="auto, cone, factors or coupling.",
    offered=("auto", "cone", "factors", "coupling"),
    default="auto",
)
STATE = _text("state", "--state", "S", "The state; must be given.")
STATES: Option[tuple[str, ...]] = Option(
    name="states",
    flags=("--state",),
    metavar="S",
    help="Does this state? Repeatable.",
    repeatable=True,
    read=lambda _, values: tuple(values or ()),
)
DEPTH = _whole("depth", "--depth", "K", "Formulae of at most K actions; all without it.", least=0)
UNICODE = _switch("unicode", "--unicode", "Use the signs of the papers.")
FORMULA = _text(
    "formula",
    "--formula",
    "TEXT",
    "Such as '<a>(1/2 <b>T + 1/2 !<c>T)', or @FILE.",
    file_of=lambda value: value[1:] if value.startswith("@") else None,
)
HTML = _text("html", "--html", "FILE", "Write the table and a diagram of the order as one page.", writes=True)
SVG = _text("svg", "--svg", "FILE", "Draw the event behind the lower bound, or the strategy.", writes=True)
TRACE_KIND: Option[str] = Option(
    name="kind",
    flags=("--kind",),
    metavar="KIND",
    help="multiplicative or additive.",
    default="multiplicative",
    read=one_of(*TRACE_KINDS, what="there is no such metric"),
)
LONGEST = _whole("length", "--length", "K", "Traces of at most K actions; all without it.", least=0)
TRACE_FORMULAE: Option[tuple[str, ...]] = Option(
    name="formulae",
    flags=("--formula",),
    metavar="TEXT",
    help="Only check this one; repeatable.",
    repeatable=True,
    read=lambda _, value: tuple(value or ()),
)
LISTED = _whole("limit", "--limit", "N", "List at most N formulae (1000).", least=0)
SECRET_DISTANCE: Option[str] = Option(
    name="distance",
    flags=("--distance",),
    metavar="NAME",
    help="discrete, hamming, absolute, or a file with a table.",
    offered=SECRET_DISTANCES,
    default="discrete",
    read=_secret_distance,
    file_of=lambda value: None if value in SECRET_DISTANCES else value,
)
SECRETS: Option[tuple[tuple[str, str], ...]] = Option(
    name="secrets",
    flags=("--secret",),
    metavar="NAME STATE",
    help="Repeatable.",
    parts=2,
    repeatable=True,
    read=lambda _, values: tuple(values or ()),
)
EVERY_PAIR = _switch("every_pair", "--every-pair", "Look at all pairs, also those that follow from others.")
TARGET_KIND = _text(
    "to", "--to", "KIND", "The kind of model to make: lmc, pa, hmm or interactive.", offered=KINDS
)
OUTPUT_FORMAT = _text(
    "format_name",
    "--format",
    "FORMAT",
    "json (default), yaml, dot, prism or umb.",
    offered=("json", "yaml", "dot", "svg", "prism", "umb"),
)
OUTPUT: Option[str | None] = Option(
    name="output",
    flags=("--output", "-o"),
    metavar="FILE",
    help="Write to a file; its extension says the format.",
    writes=True,
)
UNFOLD = _switch("unfold", "--unfold", "Make drawing a hidden state and observing it two steps.")
INPUT: Option[tuple[str, ...]] = Option(
    name="inputs",
    flags=("--input",),
    metavar="VALUE",
    help="Of a program: an input, a Python literal; repeatable, the first two are the pair.",
    repeatable=True,
    read=lambda _, values: tuple(values or ()),
)
OBSERVE: Option[str | None] = _text(
    "observe",
    "--observe",
    "WHAT",
    "Of a program: output (default), draws, bits, steps or trace.",
    offered=("output", "draws", "bits", "steps", "trace"),
)
NEIGHBOURS = _text(
    "neighbours",
    "--neighbours",
    "WHICH",
    "Of a program: which inputs are pairs: all, one (at distance one), or FILE.py:NAME, a relation.",
    file_of=lambda value: value.rpartition(":")[0] or None,
)
COST: Option[tuple[str, ...]] = Option(
    name="costs",
    flags=("--cost",),
    metavar="KIND=N",
    help="Of a program: the steps of a kind of statement (1), such as Assign=2; repeatable.",
    repeatable=True,
    read=lambda _, values: tuple(values or ()),
)
DOMAIN = _text("domain", "--domain", "A,B,...", "Of a program: the elements that its inputs are lists of.")
SIZE = _whole("size", "--size", "N", "How long these lists are.", least=0)
CUT = _number("cut", "P", "Of a program: give up paths of less probability.", _unit)


def gains_file(measure: str) -> str | None:
    """Return the file that a measure of leakage reads, if it does."""
    return measure[2:] if measure.startswith("g:") else None


LEAKAGE = _text(
    "measure",
    "--measure",
    "NAME",
    "tv, chi2, kl, hellinger, renyi:BETA, bayes, min-entropy or g:FILE.",
    offered=("tv", "chi2", "kl", "hellinger", "renyi:", "bayes", "min-entropy", "g:"),
    file_of=gains_file,
)
ASK: Option[tuple[str, ...]] = Option(
    name="ask",
    flags=("--ask",),
    metavar="ACTIONS",
    help="Interactive models: the actions that are asked one after another; repeated or with commas.",
    repeatable=True,
    read=lambda _, texts: tuple(part.strip() for text in texts or () for part in text.split(",")),
)
STRATEGY = _text(
    "strategy",
    "--strategy",
    "FILE",
    "Interactive models: what is asked, as the event of a witness of delta says it.",
    file_of=lambda path: path,
)
BOTH = _switch("both", "--both", "Take every pair in both directions.")
LEAKAGE_SECRETS: Option[tuple[str, ...]] = Option(
    name="leakage_secrets",
    flags=("--secret",),
    metavar="S",
    help="A state that is a secret, instead of pairs; repeatable.",
    repeatable=True,
    read=lambda _, values: tuple(values or ()),
)
PRIOR: Option[tuple[fmpq, ...]] = Option(
    name="prior",
    flags=("--prior",),
    metavar="P",
    help="The probabilities of the secrets, repeated or with commas; by default all are the same.",
    repeatable=True,
    read=lambda flag, values: tuple(
        numbers.numbered(flag, part) for text in values or () for part in text.split(",")
    ),
)
CLAIM = _number("delta", "D", "The delta that is claimed; by default that of the model.", _unit)
CONFIDENCE = _number("confidence", "C", "With what probability the answer has to hold.", _open_unit).but(
    default="99/100"
)


def _column(name: str, flag: str, help: str) -> Option[str | None]:
    return Option(name=name, flags=(flag,), metavar="COLUMN", help=help)


STATE_COLUMN = _column("observed_state", "--observed-state", "The column of the states.")
LABEL_COLUMN = _column("label", "--label", "The column of what an observer sees (the state itself).")
RUN_COLUMN = _column("run", "--run", "The column that says to which run a step belongs (all to one).")
SEEN_ONLY = _switch("seen_only", "--seen-only", "Only transitions that were seen are possible.")
SAMPLES: Option[int] = Option(
    name="samples",
    flags=("--samples",),
    metavar="N",
    help="How many outputs to take of each of the two states.",
    type=int,
    default=10_000,
    read=lambda flag, value: numbers.at_least(flag, value, 1),
)
PROGRAM_OPTIONS: tuple[Option[Any], ...] = (INPUT, NEIGHBOURS, OBSERVE, COST, CUT)
"""What says which chain FILE.py:FUNCTION stands for."""
