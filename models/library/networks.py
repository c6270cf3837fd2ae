"""Two protocols of networks with a parameter: a crowd that hides who sends, and a file sent in chunks."""

from __future__ import annotations

from collections.abc import Mapping

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import to_fmpq
from bisimdist.models.entries import EntryText
from bisimdist.models.expression import PARAMETER_NAME
from bisimdist.models.kinds import LMC, ParametricChain
from bisimdist.models.library.parameters import Example, Integer, RationalOrName


def crowd(members: int = 5, corrupt: int = 1, forward: EntryText = "p") -> LMC | ParametricChain:
    """Return a crowd: a message goes to members at random until one of them delivers it.

    The sender hands it to one of the members, which hands it on with a probability or else delivers it. A
    corrupt member sees from whom it comes, and lets it go no farther. How long it took is not seen, so that
    each sender leads in one step to who was seen. The pair is that of two honest senders.

    ``members``, ``corrupt``: how many members there are, and how many of them are corrupt; at least two are
        honest.
    ``forward``: with what probability a member hands the message on: an exact number, or the name of a
        parameter.
    Raises UsageError if fewer than two members are honest.
    Source: Reiter, Rubin, "Crowds: anonymity for web transactions", ACM Transactions on Information and
    System Security 1, 1998.

    >>> chain = crowd(3, 1, "1/2")
    >>> {chain.states[t]: p for t, p in chain.rows[0]}
    {'seen0': 5/12, 'seen1': 1/12, 'delivered': 1/2}
    """
    honest = members - corrupt
    if honest < 2:
        raise UsageError(f"{honest} of {members} members are honest; expected at least two")
    p = _name(forward)
    caught = f"{corrupt}/({members}-{honest}*{p})"  # that a corrupt member is met at all
    other = f"{p}*{caught}/{members}"
    same = f"{corrupt}/{members}+{other}"
    seen = {f"seen{j}": f"seen {j}" for j in range(honest)}
    rows: dict[str, dict[str, EntryText]] = {
        f"sender{i}": {
            **{f"seen{j}": same if i == j else other for j in range(honest)},
            "delivered": f"1-{caught}",
        }
        for i in range(honest)
    }
    states = {**{f"sender{i}": "sends" for i in range(honest)}, **seen, "delivered": "delivered"}
    ends: dict[str, dict[str, EntryText]] = {name: {name: 1} for name in (*seen, "delivered")}
    return _made(states, {**rows, **ends}, forward, ("sender0", "sender1"))


def retransmission(chunks: int = 2, retries: int = 2, reliability: EntryText = "p") -> LMC | ParametricChain:
    """Return a file sent in chunks, each with so many retries, of which only the end is seen.

    The pair is that of a file with so many chunks, and one with one chunk more. It is received if every chunk
    arrives. At alpha = 1 their delta is s^n (1 - s) where s is the probability that one chunk does.

    ``chunks``, ``retries``: how many chunks the shorter file has, and how often each is sent again.
    ``reliability``: with what probability a chunk that is sent arrives: an exact number, or the name of a
        parameter.
    Source: Helmink, Sellink, Vaandrager, "Proof-checking a data link protocol", TYPES 1993.

    >>> retransmission(1, 1, "1/2").rows[0]
    ((2, 3/4), (3, 1/4))
    """
    arrives = f"1-(1-{_name(reliability)})^{retries + 1}"
    rows: dict[str, dict[str, EntryText]] = {
        name: {"received": f"({arrives})^{n}", "lost": f"1-({arrives})^{n}"}
        for name, n in (("shorter", chunks), ("longer", chunks + 1))
    }
    states = {"shorter": "sends", "longer": "sends", "received": "received", "lost": "lost"}
    ends: dict[str, dict[str, EntryText]] = {"received": {"received": 1}, "lost": {"lost": 1}}
    return _made(states, {**rows, **ends}, reliability, ("shorter", "longer"))


def _name(value: EntryText) -> str:
    """Return the name of the parameter; any, where it has a value."""
    return value if isinstance(value, str) and PARAMETER_NAME.fullmatch(value) else "p"


def _made(
    states: Mapping[str, str],
    rows: Mapping[str, Mapping[str, EntryText]],
    value: EntryText,
    pair: tuple[str, str],
) -> LMC | ParametricChain:
    name = _name(value)
    chain = ParametricChain.from_mappings(states, rows, {name: (0, 1)}, [pair])
    return chain if value == name else chain.at({name: to_fmpq(value)})


EXAMPLES = (
    Example(
        "crowd",
        "a crowd of members who hand a message on; is it hidden who sends?",
        (Integer("members", 5, 2, 100), Integer("corrupt", 1, 1, 98), RationalOrName("forward", fmpq(4, 5))),
        crowd,
    ),
    Example(
        "retransmission",
        "a file sent in chunks, each with retries; is it hidden how many there are?",
        (
            Integer("chunks", 2, 1, 12),
            Integer("retries", 2, 0, 12),
            RationalOrName("reliability", fmpq(49, 50)),
        ),
        retransmission,
    ),
)
