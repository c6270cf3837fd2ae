"""The options of all commands, each written once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.questions import numbers
from bisimdist.questions.option import Option, choice, option, several, switch, whole

if TYPE_CHECKING:
    from flint import fmpq

TRACE_KINDS = ("multiplicative", "additive")
SECRET_DISTANCES = ("discrete", "hamming", "absolute")
KINDS = ("lmc", "pa", "hmm", "interactive")
ENGINES = ("auto", "exact", "smt", "both")


JSON = switch("--json", "Print one JSON object.", name="as_json")
PAIR: Option[tuple[tuple[str, str], ...]] = several(
    "--pair", "S T", "A pair of states; repeatable.", name="pairs", parts=2
)
STATE_LIMIT = whole("--state-limit", "N", "States that a .ccsp file may have (50000).", least=1)
PRISM_LABELS = switch("--prism-labels", "Keep the labels init and deadlock, which PRISM itself declares.")
INPUT_FORMAT = option(
    "--format",
    "NAME",
    "The format of MODEL, whatever its name says: json, yaml, ccsp, prism, prism-language, jani, ...",
    name="input_format",
    flags=("--input-format", "--format"),
    offered=("json", "yaml", "ccsp", "prism", "prism-language", "jani", "drn", "umb"),
)
TIMEOUT = option(
    "--timeout", "SEC", "Stop after so many seconds with what is known by then.", read=numbers.seconds
)
MEMORY = option(
    "--memory", "MIB", "Stop beyond so much memory with what is known by then.", read=numbers.memory_bytes
)
JOBS = whole("--jobs", "N", "Threads to use.", default=1, least=1)


def _cluster(flag: str, place: str | None) -> str | None:
    if place is None:
        return None
    from bisimdist.cluster import checked_cluster

    try:
        return checked_cluster(place)
    except UsageError as error:
        raise UsageError(f"{flag}: {error}") from None


CLUSTER = option(
    "--cluster",
    "WHERE",
    "Share the work among Dask workers: local:N, or the address of a scheduler, tcp://HOST:PORT.",
    read=_cluster,
)
CERTIFICATE = option(
    "--certificate", "FILE", "Write the proof of the answer, for 'bisimdist check'.", writes=True
)
ALPHA = option(
    "--alpha",
    "A",
    "The skew: an exact number of at least 1.",
    read=numbers.ALPHA,
)
EPSILON = option(
    "--epsilon",
    "E",
    "Stands for alpha = e^E, rounded to stay sound.",
    read=numbers.ANY,
)


def _secret_distance(flag: str, name: str) -> str:
    if name not in SECRET_DISTANCES and not {".", "/"} & set(name):
        raise UsageError(f"{flag} {name}: expected {', '.join(SECRET_DISTANCES)}, or a file with a table")
    return name


ENDS = choice(
    "--ends",
    "SEEN",
    "Does an observer see that a run has ended: visible or hidden.",
    "visible",
    "hidden",
    what="no such way to see ends",
    default="visible",
)
PRECISION = option(
    "--precision", "P", "Be content with bounds at most P apart, in short rationals.", read=numbers.POSITIVE
)
UNIT_THRESHOLD = option(
    "--threshold", "THETA", "Ask only whether the distance is at most THETA.", read=numbers.UNIT
)
THRESHOLD = option(
    "--threshold",
    "EPS",
    "Ask whether the distance is at most EPS (weak anonymity).",
    read=numbers.NONNEGATIVE,
)
GAP = option("--gap", "G", "Stop as soon as upper - lower is at most G.", read=numbers.UNIT)
BY_PAPER = switch("--papers", "List the case studies by paper and figure.", name="by_paper")

QUOTIENT = switch("--quotient", "Merge bisimilar states first.", name="merge_bisimilar")
SKEWED_DISTANCE = choice(
    "--distance", "NAME", "bd or lbd.", "bd", "lbd", what="no such distance", default="bd"
)
CERTIFICATE_FORMAT = choice(
    "--certificate-format",
    "N",
    "1 is JSON, 2 is short and read part by part, auto is 2 for what is too long for 1.",
    "auto",
    "1",
    "2",
    what="no such format",
    default="auto",
)
WORST = switch("--worst", "Refine only what the largest delta of all pairs depends on.")
ROUNDS = whole(
    "--rounds", "K", "Interactive models: at most so many actions; by default any number.", least=0
)
FIXED = switch("--fixed", "With --rounds: the sequence of actions is fixed beforehand.")
BACKEND = option("--backend", "NAME", "Another solver proposes couplings: pulp:HiGHS, scipy, z3, ...")
PROGRAM_FILE = option("--lp", "FILE", "Where to write it: in the format of .mps, or of .lp.", writes=True)
ROBUST = switch("--robust", "Whether bisimilar states stay close when rows move a little.")
NATURE = choice(
    "--nature",
    "HOW",
    "Intervals: each-step (nature picks anew, in each world on its own; the default) or fixed.",
    "each-step",
    "fixed",
    what="no such nature",
    default="each-step",
)
ALPHAS: Option[tuple[fmpq, ...]] = several(
    "--alpha", "A", "Where to compute delta; repeatable.", name="alphas", each=numbers.ALPHA
)
EPSILONS: Option[tuple[fmpq, ...]] = several(
    "--epsilon", "E", "The same by epsilon; repeatable.", name="epsilons", each=numbers.numbered
)
POINTS = whole("--points", "N", "Points to choose.", default=33)
LARGEST = option("--to", "E", "The largest epsilon of the points to choose.", read=numbers.POSITIVE)
RUNS = whole("--runs", "K", "Of K independent runs.", default=1)
RENYI: Option[tuple[int, ...]] = several(
    "--renyi",
    "ORDERS",
    "Rényi divergences of these orders too, with commas, and the bound on delta that follows.",
    name="orders",
    each=numbers.order_number,
    commas=True,
)
CSV = option("--csv", "FILE", "Write what is said of each pair as CSV.", writes=True)
TOP = whole("--top", "K", "Show only the K pairs with the largest numbers.", least=1)
ALL_PAIRS = switch("--all-pairs", "Take all pairs of states.")


def _matrix_file(flag: str, path: str | None) -> str | None:
    if path is None:
        return None
    from bisimdist.report.pictures import PICTURES, picture_format

    picture_format(f"{flag} {path}", (".csv", ".npy", *PICTURES))  # refuses before anything is computed
    return path


MATRIX = option(
    "--matrix",
    "FILE",
    "Write the numbers as a matrix, best with --all-pairs: .csv (exact), .npy, or a picture.",
    writes=True,
    read=_matrix_file,
)
PLOT = option("--plot", "FILE", "Draw the curve (.svg, .png, .pdf).", writes=True)
LOG = switch("--log", "Draw with logarithmic axes.", name="logarithmic")
KINKS = switch("--kinks", "Mark in the picture where an exact curve bends.")
TRADE_OFF = switch("--trade-off", "Draw the trade-off (f-DP) curve as well.")
METRIC_KIND = option(
    "--kind",
    "KIND",
    "accumulative, amortised, additive or multiplicative.",
    offered=("accumulative", "amortised", "additive", "multiplicative"),
)
DISCOUNT = option(
    "--discount", "L", "The factor of a step (1), for additive and multiplicative.", read=numbers.discount
)
RELATION = option(
    "--relation",
    "FILE",
    "Only check whether this relation is such a bisimulation.",
    file_of=lambda value: value,
)
RATIO = option("--ratio", "C", "The budget: an exact number of at least 1.", read=numbers.ANY)
RATIO_FROM_ONE = ALPHA.but(
    name="ratio", flags=("--ratio",), metavar="C", help="The budget; without it any budget will do."
)
BUDGET_EXPONENT = EPSILON.but(help="Stands for the budget e^E.")
LENGTH: Option[int] = Option(
    name="length", flags=("--length",), metavar="K", help="How many observations.", type=int
)
UP_TO = switch("--up-to", "All lengths to K, not only K.")
DISTRIBUTIONS = PAIR.but(metavar="PI TAU", help="Two distributions; repeatable.")
ENGINE = choice(
    "--engine", "NAME", "exact, smt, both (compare) or auto.", *ENGINES, what="no such engine", default="auto"
)
METHOD = option(
    "--method",
    "NAME",
    "auto, cone, factors or coupling.",
    offered=("auto", "cone", "factors", "coupling"),
    default="auto",
)
STATE = option("--state", "S", "The state; must be given.")
STATES: Option[tuple[str, ...]] = several("--state", "S", "Does this state? Repeatable.", name="states")
DEPTH = whole("--depth", "K", "Formulae of at most K actions; all without it.", least=0)
UNICODE = switch("--unicode", "Use the signs of the papers.")
FORMULA = option(
    "--formula",
    "TEXT",
    "Such as '<a>(1/2 <b>T + 1/2 !<c>T)', or @FILE.",
    file_of=lambda value: value[1:] if value.startswith("@") else None,
)
HTML = option("--html", "FILE", "Write the table and a diagram of the order as one page.", writes=True)
SVG = option(
    "--svg", "FILE", "Draw what stands behind the answer: an event, a play, a coupling, ...", writes=True
)
GRAPH = option("--graph", "FILE", "Draw the graph of information states behind the bounds.", writes=True)
TRACE_KIND = choice(
    "--kind",
    "KIND",
    "multiplicative or additive.",
    *TRACE_KINDS,
    what="there is no such metric",
    default="multiplicative",
)
LONGEST = whole("--length", "K", "Traces of at most K actions; all without it.", least=0)
TRACE_FORMULAE: Option[tuple[str, ...]] = several(
    "--formula", "TEXT", "Only check this one; repeatable.", name="formulae"
)
LISTED = whole("--limit", "N", "List at most N formulae (1000).", least=0)
SECRET_DISTANCE = option(
    "--distance",
    "NAME",
    "discrete, hamming, absolute, or a file with a table.",
    offered=SECRET_DISTANCES,
    default="discrete",
    read=_secret_distance,
    file_of=lambda value: None if value in SECRET_DISTANCES else value,
)
SECRETS: Option[tuple[tuple[str, str], ...]] = several(
    "--secret", "NAME STATE", "Repeatable.", name="secrets", parts=2
)
EVERY_PAIR = switch("--every-pair", "Look at all pairs, also those that follow from others.")
TARGET_KIND = option("--to", "KIND", "The kind of model to make: lmc, pa, hmm or interactive.", offered=KINDS)
OUTPUT_FORMAT = option(
    "--format",
    "FORMAT",
    "json (default), yaml, dot, prism or umb.",
    name="format_name",
    offered=("json", "yaml", "dot", "svg", "prism", "umb"),
)
LOSS = option("--loss", "X", "How much may be lost: a distance from 0 to 1.", read=numbers.UNIT)
MINIMISE = option(
    "--minimise",
    "X",
    "Merge nearly alike states first, and allow for what that loses: a distance from 0 to 1.",
    name="loss",
    read=numbers.UNIT,
)
OUTPUT = option(
    "-o",
    "FILE",
    "Write to a file; its extension says the format.",
    name="output",
    flags=("--output", "-o"),
    writes=True,
)
UNFOLD = switch("--unfold", "Make drawing a hidden state and observing it two steps.")
INPUT: Option[tuple[str, ...]] = several(
    "--input",
    "VALUE",
    "Of a program: an input, a Python literal; repeatable, the first two are the pair.",
    name="inputs",
)
OBSERVE = option(
    "--observe",
    "WHAT",
    "Of a program: output (default), draws, bits, steps or trace.",
    offered=("output", "draws", "bits", "steps", "trace"),
)
NEIGHBOURS = option(
    "--neighbours",
    "WHICH",
    "Of a program: which inputs are pairs: all, one (at distance one), or FILE.py:NAME, a relation.",
    file_of=lambda value: value.rpartition(":")[0] or None,
)
COST: Option[tuple[str, ...]] = several(
    "--cost",
    "KIND=N",
    "Of a program: the steps of a kind of statement (1), such as Assign=2; repeatable.",
    name="costs",
)
DOMAIN = option("--domain", "A,B,...", "Of a program: the elements that its inputs are lists of.")
SIZE = whole("--size", "N", "How long these lists are.", least=0)
CUT = option("--cut", "P", "Of a program: give up paths of less probability.", read=numbers.UNIT)


def gains_file(measure: str) -> str | None:
    """Return the file that a measure of leakage reads, if it does."""
    return measure[2:] if measure.startswith("g:") else None


LEAKAGE = option(
    "--measure",
    "NAME",
    "tv, chi2, kl, hellinger, renyi:BETA, bayes, min-entropy or g:FILE.",
    offered=("tv", "chi2", "kl", "hellinger", "renyi:", "bayes", "min-entropy", "g:"),
    file_of=gains_file,
)
ASK: Option[tuple[str, ...]] = several(
    "--ask",
    "ACTIONS",
    "Interactive models: the actions that are asked one after another; repeated or with commas.",
    name="ask",
    each=lambda _, action: action.strip(),
    commas=True,
)
STRATEGY = option(
    "--strategy",
    "FILE",
    "Interactive models: what is asked, as the event of a witness of delta says it.",
    file_of=lambda path: path,
)
BOTH = switch("--both", "Take every pair in both directions.")
LEAKAGE_SECRETS: Option[tuple[str, ...]] = several(
    "--secret", "S", "A state that is a secret, instead of pairs; repeatable.", name="leakage_secrets"
)
PRIOR: Option[tuple[fmpq, ...]] = several(
    "--prior",
    "P",
    "The probabilities of the secrets, repeated or with commas; by default all are the same.",
    name="prior",
    each=numbers.numbered,
    commas=True,
)
CLAIM = option("--delta", "D", "The delta that is claimed; by default that of the model.", read=numbers.UNIT)
CONFIDENCE = option(
    "--confidence",
    "C",
    "With what probability the answer has to hold.",
    default="99/100",
    read=numbers.OPEN_UNIT,
)


STATE_COLUMN = option("--observed-state", "COLUMN", "The column of the states.")
LABEL_COLUMN = option("--label", "COLUMN", "The column of what an observer sees (the state itself).")
RUN_COLUMN = option("--run", "COLUMN", "The column that says to which run a step belongs (all to one).")
SEEN_ONLY = switch("--seen-only", "Only transitions that were seen are possible.")
SAMPLES = whole(
    "--samples", "N", "How many outputs to take of each of the two states.", default=10_000, least=1
)
COINS = option(
    "--coins",
    "G",
    "Of a program: every bit is bent by up to G, whatever came before.",
    read=numbers.UNIT,
)
PROGRAM_OPTIONS: tuple[Option[Any], ...] = (INPUT, NEIGHBOURS, OBSERVE, COST, CUT, COINS)
"""What says which chain FILE.py:FUNCTION stands for."""
