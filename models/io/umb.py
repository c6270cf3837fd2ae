"""UMB, the unified Markov binary, written by umbi (the extra ``umb``); `tools` reads it.

What UMB has no room for, the names of states and which of them are neighbours, stands among the parameters of
the tool in its index. No date is written: the same model makes the same bytes.

See UMB, "Unified Markov Binary", format specification 0.1.
"""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from fractions import Fraction
from typing import Any

from flint import fmpq

from bisimdist.errors import ModelError, UsageError
from bisimdist.extras import needed
from bisimdist.models.kinds import LMC, PA, AnyModel
from bisimdist.models.labelled import Row

_PLAIN = re.compile(r"[a-z][a-z0-9_-]*")
WORD = 64  # numerators and denominators are written in a whole number of words of so many bits


def write_umb(model: AnyModel) -> bytes:
    """Return a chain or an automaton as a UMB file.

    A label is an atomic proposition, an action the action of a choice. The initial states are those of the
    pairs, or else the first state.

    Parameters
    ----------
    model
        The chain, or the automaton.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    UsageError
        If umbi is not installed, or the model is of another kind.
    ModelError
        If probabilities of a transition sum to less than one, for which UMB has no form.

    Examples
    --------
    >>> import bisimdist
    >>> from importlib.util import find_spec
    >>> there = find_spec("umbi") is not None        # it comes with the extra ``umb``
    >>> len(bisimdist.models.write_umb(bisimdist.build_example("figure1"))) > 0 if there else True
    True
    """
    if not isinstance(model, LMC | PA):
        raise UsageError("only chains and automata are written as UMB; 'bisimdist convert' makes a chain")
    needed("umbi", "umb")
    ats = _system(model.whole() if isinstance(model, LMC) else model)
    return _packed(_explicit(ats, model))


def _system(model: LMC | PA) -> Any:
    module = needed("umbi.ats", "umb")
    ats = module.ExplicitAts()
    ats.time = module.TimeType.DISCRETE
    for _ in model.states:
        ats.add_state()
    ats.set_initial_states(sorted({state for pair in model.pairs for state in pair}) or [0])
    if isinstance(model, LMC):
        ats.num_players = 0
        for state, row in enumerate(model.rows):
            _add(ats.add_state_choice(state=state), row)
        for number, label in enumerate(sorted(set(model.labels) - {""})):
            plain = _PLAIN.fullmatch(label)
            name, alias = (label, None) if plain else (f"label_{number}", label)
            annotation = ats.add_ap_annotation(name=name, alias=alias)
            annotation.set_state_values([one == label for one in model.labels])
        return ats
    ats.num_players = 1
    actions = list(dict.fromkeys(step.action for step in model.transitions))
    number_of = {action: number for number, action in enumerate(actions)}
    ats.choice_action_to_name, ats.num_choice_actions = actions, len(actions)
    for step in sorted(model.transitions, key=lambda step: step.source):
        if sum((p for _, p in step.row), fmpq(0)) != 1:
            raise ModelError(
                "the probabilities sum to less than 1; expected 1, for UMB has no missing mass",
                place=f"state {model.states[step.source]!r}",
            )
        choice = ats.add_state_choice(state=step.source)
        choice.action = number_of[step.action]
        _add(choice, step.row)
    return ats


def _add(choice: Any, row: Row) -> None:
    for target, p in row:
        choice.add_branch(target=target, prob=Fraction(int(p.p), int(p.q)))


def _explicit(ats: Any, model: LMC | PA) -> Any:
    """Return the contents of the file, with numbers as wide as they have to be."""
    umb = needed("umbi.ats", "umb").explicit_ats_to_explicit_umb(ats)
    index = needed("umbi.umb.index", "umb")
    parameters = {"states": list(model.states), "pairs": [list(pair) for pair in model.pairs]}
    umb.index.file_data = index.FileData(tool="bisimdist", parameters=parameters)
    if umb.branch_to_probability is None:
        return umb
    entries = [Fraction(p) for p in umb.branch_to_probability]
    longest = max(max(p.numerator.bit_length() + 1, p.denominator.bit_length()) for p in entries)
    numbers = needed("umbi.datatypes", "umb").NumericPrimitiveType
    wide = needed("umbi.binary", "umb").SizedType(numbers.RATIONAL, 2 * WORD * -(-longest // WORD))
    umb.index.transition_system.branch_probability_type = wide
    umb.branch_to_probability = entries
    return umb


def _packed(umb: Any) -> bytes:
    """Return the archive of the parts, compressed, without a date."""
    encoder = needed("umbi.umb.umb_to_tar", "umb").UmbEncoder()
    encoder.encode(umb, insert_umbi_metadata=False)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, content in encoder.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return gzip.compress(archive.getvalue(), mtime=0)
