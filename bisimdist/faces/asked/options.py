"""The options of all commands, each written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import numbers
from bisimdist.faces.asked.option import Option, choice, option, several, switch, whole

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
STATE_LIMIT = whole(
    "--state-limit",
    "N",
    "The most states of a .ccsp file (50000), or of a model of other tools (2000000).",
    least=1,
)
PRISM_LABELS = switch("--prism-labels", "Keep PRISM's own labels init and deadlock.")
INPUT_FORMAT = option(
    "--format",
    "NAME",
    "The format of MODEL, whatever its extension: json, yaml, ccsp, prism, prism-language, jani, ...",
    name="input_format",
    flags=("--input-format", "--format"),
    offered=("json", "yaml", "ccsp", "prism", "prism-language", "jani", "drn", "umb"),
)
TIMEOUT = option(
    "--timeout", "SEC", "Stop after so many seconds and print what is known.", read=numbers.seconds
)
MEMORY = option(
    "--memory", "MIB", "Stop beyond so much memory and print what is known.", read=numbers.memory_bytes
)
JOBS = whole("--jobs", "N", "The number of threads.", default=1, least=1)


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
LEAN = option("--lean", "FILE", "Write the budget as a theorem for Lean 4 and Mathlib.", writes=True)
ROCQ = option("--rocq", "FILE", "Write the budget as a theorem for Rocq (Coq).", writes=True)
ALPHA = option(
    "--alpha",
    "A",
    "The skew: an exact number of at least 1.",
    read=numbers.ALPHA,
)
EPSILON = option(
    "--epsilon",
    "E",
    "Use alpha = e^E, rounded to stay sound.",
    read=numbers.ANY,
)


def _secret_distance(flag: str, name: str) -> str:
    if name not in SECRET_DISTANCES and not {".", "/"} & set(name):
        raise UsageError(f"{flag} {name}: expected {', '.join(SECRET_DISTANCES)}, or a file with a table")
    return name


ENDS = choice(
    "--ends",
    "SEEN",
    "Whether an observer sees the end of a run: visible or hidden.",
    "visible",
    "hidden",
    what="no such way to see ends",
    default="visible",
)
PRECISION = option(
    "--precision", "P", "Accept bounds at most P apart, in short rationals.", read=numbers.POSITIVE
)
UNIT_THRESHOLD = option(
    "--threshold", "THETA", "Decide only whether the distance is at most THETA.", read=numbers.UNIT
)
THRESHOLD = option(
    "--threshold",
    "EPS",
    "Decide whether the distance is at most EPS.",
    read=numbers.NONNEGATIVE,
)
GAP = option("--gap", "G", "Stop as soon as upper - lower is at most G.", read=numbers.UNIT)
RELATIVE = option(
    "--relative-gap",
    "R",
    "Stop as soon as upper - lower is at most R times upper.",
    read=numbers.UNIT,
    name="relative",
)
BY_PAPER = switch("--papers", "List the case studies by paper and figure.", name="by_paper")

QUOTIENT = switch("--quotient", "Merge bisimilar states first.", name="merge_bisimilar")
SKEWED_DISTANCE = choice(
    "--distance", "NAME", "The distance: bd or lbd.", "bd", "lbd", what="no such distance", default="bd"
)
CERTIFICATE_FORMAT = choice(
    "--certificate-format",
    "NAME",
    "json, compact (a few bytes a pair, read part by part), or auto (compact if JSON would be too long).",
    "auto",
    "json",
    "compact",
    what="no such format",
    default="auto",
)
WORST = switch("--worst", "Refine only the parts on which the largest delta of all pairs depends.")
ROUNDS = whole("--rounds", "K", "Interactive models: at most K actions; by default any number.", least=0)
FIXED = switch("--fixed", "With --rounds: fix the sequence of actions beforehand.")
BACKEND = option("--backend", "NAME", "Let another solver propose couplings: pulp:HiGHS, scipy, z3, ...")
PROGRAM_FILE = option("--lp", "FILE", "Write the linear program of the distance (.mps or .lp).", writes=True)
ROBUST = switch("--robust", "Decide whether bisimilar states stay close when probabilities change a little.")
NATURE = choice(
    "--nature",
    "HOW",
    "Intervals: each-step (nature picks anew at every step, in each world on its own) or fixed.",
    "each-step",
    "fixed",
    what="no such nature",
    default="each-step",
)
ALPHAS: Option[tuple[fmpq, ...]] = several(
    "--alpha", "A", "Compute delta at this alpha; repeatable.", name="alphas", each=numbers.ALPHA
)
EPSILONS: Option[tuple[fmpq, ...]] = several(
    "--epsilon", "E", "Compute delta at alpha = e^E; repeatable.", name="epsilons", each=numbers.numbered
)
POINTS = whole("--points", "N", "The most points to choose.", default=33)
LARGEST = option("--to", "E", "The largest epsilon of the chosen points.", read=numbers.POSITIVE)
RUNS = whole("--runs", "K", "Compose K independent runs.", default=1)
RENYI: Option[tuple[int, ...]] = several(
    "--renyi",
    "ORDERS",
    "Add Rényi divergences of these orders (2,3,4) and the bound on delta that follows.",
    name="orders",
    each=numbers.order_number,
    commas=True,
)
CSV = option("--csv", "FILE", "Write one row for each pair as CSV.", writes=True)
TOP = whole("--top", "K", "Show only the K pairs with the largest numbers.", least=1)
ALL_PAIRS = switch("--all-pairs", "Ask about all pairs of states.")


def _drawn(*more: str) -> Callable[[str, str | None], str | None]:
    """Return what reads the name of a picture, or of a file of other kinds, before anything is computed."""

    def read(flag: str, path: str | None) -> str | None:
        if path is not None:
            from bisimdist.faces.shown.pictures import PICTURES, picture_format

            picture_format(f"{flag} {path}", (*more, *PICTURES))
        return path

    return read


OTHERS = (".csv", ".npy")  # what a matrix is written as, if not as a picture
MATRIX = option(
    "--matrix",
    "FILE",
    "Write the numbers as a matrix, best with --all-pairs: .csv (exact), .npy, or a picture.",
    writes=True,
    read=_drawn(*OTHERS),
)
PLOT = option("--plot", "FILE", "Draw the curve (.svg, .png, .pdf).", writes=True, read=_drawn())
LOG = switch("--log", "Draw with logarithmic axes.", name="logarithmic")
KINKS = switch("--kinks", "Mark the bends of an exact curve.")
TRADE_OFF = switch("--trade-off", "Draw the trade-off (f-DP) curve as well.")
METRIC_KIND = option(
    "--kind",
    "KIND",
    "The metric: accumulative, amortised, additive or multiplicative.",
    offered=("accumulative", "amortised", "additive", "multiplicative"),
)
DISCOUNT = option(
    "--discount",
    "L",
    "The discount of a step (1), for kinds additive and multiplicative.",
    read=numbers.discount,
)
RELATION = option(
    "--relation",
    "FILE",
    "Only check whether this relation is a bisimulation of that kind.",
    file_of=lambda value: value,
)
RATIO = option("--ratio", "C", "The budget: an exact number of at least 1.", read=numbers.ANY)
RATIO_FROM_ONE = ALPHA.but(
    name="ratio", flags=("--ratio",), metavar="C", help="The budget; without it, any budget."
)
BUDGET_EXPONENT = EPSILON.but(help="Use the budget e^E.")
LENGTH: Option[int] = Option(
    name="length", flags=("--length",), metavar="K", help="The number of observations.", type=int
)
UP_TO = switch("--up-to", "All lengths up to K, not only K.")
DISTRIBUTIONS = PAIR.but(metavar="PI TAU", help="Two distributions; repeatable.")
ENGINE = choice(
    "--engine",
    "NAME",
    "The engine: exact, smt, both (and compare) or auto.",
    *ENGINES,
    what="no such engine",
    default="auto",
)
SMT_TIMEOUT = option(
    "--smt-timeout",
    "SEC",
    "The seconds that Z3 may take for a pair (60).",
    name="smt_seconds",
    read=numbers.seconds,
)
METHOD = option(
    "--method",
    "NAME",
    "The kind of proof: auto, cone, factors or coupling.",
    offered=("auto", "cone", "factors", "coupling"),
    default="auto",
)
STATE = option("--state", "S", "The state (required).")
STATES: Option[tuple[str, ...]] = several(
    "--state", "S", "Ask whether this state satisfies it; repeatable.", name="states"
)
DEPTH = whole("--depth", "K", "Formulae of at most K actions; by default all.", least=0)
UNICODE = switch("--unicode", "Print the symbols of the papers.")
FORMULA = option(
    "--formula",
    "TEXT",
    "A formula, such as '<a>(1/2 <b>T + 1/2 !<c>T)', or @FILE.",
    file_of=lambda value: value[1:] if value.startswith("@") else None,
)
HTML = option("--html", "FILE", "Write the table and a diagram of the order as one page.", writes=True)
SVG = option("--svg", "FILE", "Draw the evidence: an event, a play, a coupling, ...", writes=True)
GRAPH = option("--graph", "FILE", "Draw the graph of information states behind the bounds.", writes=True)
TRACE_KIND = choice(
    "--kind",
    "KIND",
    "The metric: multiplicative or additive.",
    *TRACE_KINDS,
    what="there is no such metric",
    default="multiplicative",
)
TRACES_OR_SETS = choice(
    "--of",
    "WHAT",
    "With --kind additive: compare single traces, or sets of traces (delta at alpha = 1).",
    "traces",
    "sets",
    what="the metric is of nothing called",
    default="traces",
)
LONGEST = whole("--length", "K", "Traces of at most K actions; by default all.", least=0)
TRACE_FORMULAE: Option[tuple[str, ...]] = several(
    "--formula", "TEXT", "Only check this formula; repeatable.", name="formulae"
)
LISTED = whole("--limit", "N", "List at most N formulae (1000).", least=0)
SECRET_DISTANCE = option(
    "--distance",
    "NAME",
    "The distance of secrets: discrete, hamming, absolute, or a file with a table.",
    offered=SECRET_DISTANCES,
    default="discrete",
    read=_secret_distance,
    file_of=lambda value: None if value in SECRET_DISTANCES else value,
)
SECRETS: Option[tuple[tuple[str, str], ...]] = several(
    "--secret", "NAME STATE", "A secret and its state; repeatable.", name="secrets", parts=2
)
EVERY_PAIR = switch("--every-pair", "Compute all pairs, even those that follow from others.")
TARGET_KIND = option("--to", "KIND", "The kind of model to make: lmc, pa, hmm or interactive.", offered=KINDS)
OUTPUT_FORMAT = option(
    "--format",
    "FORMAT",
    "The format to write: json (default), yaml, dot, svg, prism, umb, drn, lean or rocq.",
    name="format_name",
    offered=("json", "yaml", "dot", "svg", "prism", "umb", "lean", "rocq"),
)
LOSS = option("--loss", "X", "The most that may be lost: a distance from 0 to 1.", read=numbers.UNIT)
MINIMISE = option(
    "--minimise",
    "X",
    "Merge nearly alike states first, losing a distance of at most X (0 to 1), and allow for it.",
    name="loss",
    read=numbers.UNIT,
)
OUTPUT = option(
    "-o",
    "FILE",
    "Write to a file; its extension gives the format.",
    name="output",
    flags=("--output", "-o"),
    writes=True,
)
UNFOLD = switch("--unfold", "Draw the hidden state in one step, and observe it in the next.")
INPUT: Option[tuple[str, ...]] = several(
    "--input",
    "VALUE",
    "Programs: an input, as a Python literal; repeatable, the first two are the pair.",
    name="inputs",
)
OBSERVE = option(
    "--observe",
    "WHAT",
    "Programs: what an observer sees, such as output (default), draws, steps; for modules instructions, ...; "
    "CTMCs: time, ticks.",
    offered=(
        "output",
        "draws",
        "bits",
        "steps",
        "trace",
        "type",
        "instructions",
        "memory",
        "branches",
        "time",
        "ticks",
    ),
)
ARGUMENTS: Option[Iterable[str]] = several(
    "--argument", "N", "Modules: one more argument of the function; repeatable, in order.", name="arguments"
)
CHANCES: Option[Iterable[str]] = several(
    "--chance",
    "MODULE.NAME",
    "Modules: an import that returns uniform bits, such as env.rnd64; repeatable.",
    name="chances",
)
LAYOUT = option("--layout", "TYPE", "Modules: how an input list lies in memory, such as i32 or 'u8 at 4096'.")
COMPILED_OPTIONS: tuple[Option[Any], ...] = (ARGUMENTS, CHANCES, LAYOUT)
"""What is asked of FILE.wasm:FUNCTION only."""
NEIGHBOURS = option(
    "--neighbours",
    "WHICH",
    "Programs: the neighbouring inputs: all, one (at distance one), or FILE.py:NAME, a relation.",
    file_of=lambda value: value.rpartition(":")[0] or None,
)
COST: Option[tuple[str, ...]] = several(
    "--cost",
    "KIND=N",
    "Programs: the steps of a kind of statement (1), such as Assign=2; repeatable.",
    name="costs",
)
DOMAIN = option("--domain", "A,B,...", "Programs: the elements of the input lists.")
SIZE = whole("--size", "N", "The length of these lists.", least=0)
ALL_INPUTS = switch("--all-inputs", "Python functions: prove a budget for all integer inputs.")
ANY_LENGTH = switch("--any-length", "The same for lists of any length.")
CUT = option("--cut", "P", "Programs: give up paths of probability below P.", read=numbers.UNIT)


def gains_file(measure: str) -> str | None:
    """Return the file that a measure of leakage reads, if it does."""
    return measure[2:] if measure.startswith("g:") else None


LEAKAGE = option(
    "--measure",
    "NAME",
    "The measure: tv, chi2, kl, hellinger, renyi:BETA, bayes, min-entropy or g:FILE.",
    offered=("tv", "chi2", "kl", "hellinger", "renyi:", "bayes", "min-entropy", "g:"),
    file_of=gains_file,
)
ASK: Option[tuple[str, ...]] = several(
    "--ask",
    "ACTIONS",
    "Interactive models: the actions to ask, in order; repeated or with commas.",
    name="ask",
    each=lambda _, action: action.strip(),
    commas=True,
)
STRATEGY = option(
    "--strategy",
    "FILE",
    "Interactive models: a strategy, written as in a witness of delta.",
    file_of=lambda path: path,
)
BOTH = switch("--both", "Ask about every pair in both directions.")
LEAKAGE_SECRETS: Option[tuple[str, ...]] = several(
    "--secret", "S", "A secret state, instead of pairs; repeatable.", name="leakage_secrets"
)
PRIOR: Option[tuple[fmpq, ...]] = several(
    "--prior",
    "P",
    "The probabilities of the secrets, repeated or with commas; by default all equal.",
    name="prior",
    each=numbers.numbered,
    commas=True,
)
CLAIM = option("--delta", "D", "The claimed delta; by default that of the model.", read=numbers.UNIT)
CONFIDENCE = option(
    "--confidence",
    "C",
    "The confidence of the answer.",
    default="99/100",
    read=numbers.OPEN_UNIT,
)


STATE_COLUMN = option("--observed-state", "COLUMN", "The column of the states.")
LABEL_COLUMN = option("--label", "COLUMN", "The column that an observer sees (the state itself).")
RUN_COLUMN = option("--run", "COLUMN", "The column that names the run of a step (one run).")
SEEN_ONLY = switch("--seen-only", "Allow only transitions that the runs show.")
SAMPLES = whole(
    "--samples", "N", "The number of outputs to draw from each of the two states.", default=10_000, least=1
)
ATTAINABLE = switch(
    "--attainable", "Programs: count the outputs of one input that the other input cannot produce."
)
SAMPLED = whole("--samples", "N", "Test first: draw N runs of each side, twice.", name="sampled", least=1)
SEED = whole("--seed", "N", "The seed of the tester's random numbers.", default=0)
COINS = option(
    "--coins",
    "G",
    "Programs: bias every random bit by up to G, whatever came before.",
    read=numbers.UNIT,
)
ALLOW: Option[Any] = several(
    "--allow",
    "WHAT",
    "Programs that run as they are: allow clock, files, network, processes or threads; repeatable.",
    name="allowed",
    each=numbers.allowed,
)
LAW = switch("--law", "Programs: list every output with its exact probability (with --json).")
ROUND: Option[Any] = several(
    "--round",
    "G",
    "Programs: round the output to multiples of G, such as 2^-20 or 1/1024; repeatable.",
    name="grids",
    each=numbers.grid,
)
PROGRAM_OPTIONS: tuple[Option[Any], ...] = (
    *(INPUT, NEIGHBOURS, OBSERVE, COST, CUT, COINS, ALLOW),
    *COMPILED_OPTIONS,
)  # what says which chain FILE.py:FUNCTION or FILE.wasm:FUNCTION stands for
