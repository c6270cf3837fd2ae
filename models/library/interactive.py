"""Interactive case studies: what an analyst gains by choosing its questions after the answers."""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.interactive import Interactive
from bisimdist.models.library.parameters import Example, Integer, Rational
from bisimdist.models.mechanisms.interaction import neighbouring_queries, sparse_vector


def two_questions(
    x0: ExactNumber = "3/4", x1: ExactNumber = "1/2", y0: ExactNumber = "5/8", y1: ExactNumber = "7/8"
) -> Interactive:
    """Return a secret bit that is asked about by two questions X and Y, each as often as somebody likes.

    ``x0``, ``x1``, ``y0``, ``y1``: how probable the answer yes is, by question and bit.

    >>> two_questions().pairs
    ((3, 0),)
    """
    yes = {"X": (to_fmpq(x0), to_fmpq(x1)), "Y": (to_fmpq(y0), to_fmpq(y1))}
    names = [(bit, seen) for bit in (0, 1) for seen in ("start", "yes", "no")]
    return Interactive.from_mappings(
        {f"{bit}:{seen}": seen for bit, seen in names},
        {
            f"{bit}:{seen}": {
                action: {f"{bit}:yes": chance[bit], f"{bit}:no": 1 - chance[bit]}
                for action, chance in yes.items()
            }
            for bit, seen in names
        },
        [("1:start", "0:start")],
    )


def randomised_responses(p: ExactNumber = "3/4") -> Interactive:
    """Return randomised response, asked again and again about neighbouring bits that an analyst chooses.

    Each response is the bit with probability p, with noise of its own; which of the two worlds has the bit 1
    may be chosen anew for each response.
    """
    chance = to_fmpq(p)
    rows = {"0": {"no": chance, "yes": 1 - chance}, "1": {"yes": chance, "no": 1 - chance}}
    states = {"start": "start", "yes": "yes", "no": "no"}
    mechanism = Interactive.from_mappings(states, dict.fromkeys(states, rows))
    return neighbouring_queries(mechanism, "start", [("1", "0"), ("0", "1")])


def coin_and_doors(p: ExactNumber = "3/4") -> Interactive:
    """Return a mechanism with memory: it tosses a coin, shows it, and keeps its secret behind that door.

    Behind the door that the coin names is the secret bit by randomised response, behind the other one a
    fair coin; one door may be opened. Whoever has to name the door beforehand finds the secret half of the
    times.

    ``p``: how probable it is that the response is the secret.
    """
    chance = to_fmpq(p)
    states = {"yes": "yes", "no": "no"}
    rows: dict[str, dict[str, dict[str, ExactNumber]]] = {}
    for bit in (0, 1):
        start = f"{bit}:start"
        states[start] = "start"
        rows[start] = {"toss": {f"{bit}:left": "1/2", f"{bit}:right": "1/2"}}
        for shown in ("left", "right"):
            yes = chance if bit else 1 - chance
            states[f"{bit}:{shown}"] = shown
            rows[f"{bit}:{shown}"] = {
                door: {"yes": yes if door == shown else "1/2", "no": 1 - yes if door == shown else "1/2"}
                for door in ("left", "right")
            }
    return Interactive.from_mappings(states, rows, [("1:start", "0:start")])


def adaptive_above_threshold(
    levels: int = 3,
    threshold: int = 1,
    threshold_alpha: ExactNumber = "1/4",
    query_alpha: ExactNumber = "1/2",
    answers: int = 1,
) -> Interactive:
    """Return the sparse vector technique under neighbouring queries that an analyst chooses adaptively.

    The action ``a|b`` is a query whose result is a in the first world and b in the second, which differ by at
    most one.
    """
    if threshold >= levels:
        raise UsageError(f"the threshold is {threshold}; expected an integer from 0 to {levels - 1}")
    mechanism = sparse_vector(
        levels=levels,
        threshold=threshold,
        threshold_alpha=threshold_alpha,
        query_alpha=query_alpha,
        answers=answers,
    )
    near = [(a, b) for a in range(levels) for b in range(levels) if abs(a - b) <= 1]
    return neighbouring_queries(mechanism, "start", [(str(a), str(b)) for a, b in near])


EXAMPLES = (
    Example(
        "two-questions",
        "a secret bit and two questions about it, asked adaptively",
        tuple(
            Rational(name, value)
            for name, value in (
                ("x0", fmpq(3, 4)),
                ("x1", fmpq(1, 2)),
                ("y0", fmpq(5, 8)),
                ("y1", fmpq(7, 8)),
            )
        ),
        two_questions,
    ),
    Example(
        "randomised-responses",
        "randomised response again and again, on neighbouring bits that an analyst chooses",
        (Rational("p", fmpq(3, 4)),),
        randomised_responses,
    ),
    Example(
        "coin-and-doors",
        "a mechanism with memory, where an adaptive analyst finds twice as much",
        (Rational("p", fmpq(3, 4)),),
        coin_and_doors,
    ),
    Example(
        "adaptive-above-threshold",
        "the sparse vector technique under neighbouring queries that an analyst chooses",
        (
            Integer("levels", 3, 2, 10),
            Integer("threshold", 1, 0, 9),
            Rational("threshold_alpha", fmpq(1, 4)),
            Rational("query_alpha", fmpq(1, 2)),
            Integer("answers", 1, 1, 5),
        ),
        adaptive_above_threshold,
    ),
)
