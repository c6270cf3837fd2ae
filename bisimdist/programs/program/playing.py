"""A strategy played against a program that asks, in plain Python."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.privacy.engine.event import ACCEPT, REJECT, Event
from bisimdist.programs.asking import BEGIN, label_of, labels_of_question, option_texts
from bisimdist.programs.chain import START
from bisimdist.programs.guard import Replacing, replaced
from bisimdist.programs.loading import GIVEN, loaded
from bisimdist.programs.source import options_of
from bisimdist.programs.sources import Sources
from bisimdist.programs.texts import RAISES, text_of


def played(
    function: Callable[..., Any] | str, value: Any, strategy: Event, rng: random.Random | None = None
) -> bool:
    """Run a program in plain Python under a strategy, and tell whether that is convinced.

    Parameters
    ----------
    function, value
        The program, as for `explore_interactive`, and its input.
    strategy
        What is asked and what convinces: the event of a witness of delta, where announcements are seen.
    rng
        The source of random numbers; by default that of the operating system.

    Returns
    -------
    bool
        Whether the strategy is convinced.

    Raises
    ------
    UsageError
        If the strategy asks what the program does not offer.

    Notes
    -----
    Over runs with independent random numbers the answer is True with the probability that the witness has.

    Examples
    --------
    >>> import bisimdist
    >>> from bisimdist.models.library.programs.asked import asked_responses
    >>> model = bisimdist.programs.explore_interactive(asked_responses, [0, 1])
    >>> witness = bisimdist.delta(model, 2).worst.witness
    >>> bisimdist.programs.played(asked_responses, int(witness.source), witness.event) in {True, False}
    True
    """
    found, program, keywords = loaded(function)
    player = _Player(strategy, rng if rng is not None else random.SystemRandom())
    given = {name: player for name in inspect.signature(found).parameters if name in GIVEN}
    with replaced(player, Sources(found, program).spaces()):
        try:
            end = f"return {text_of(found(value, **keywords, **given))}"
        except UsageError:
            raise
        except Exception as error:
            end = RAISES + text_of(error)
    player.see([label_of((*player.shown, end))])
    return player.place == ACCEPT


class _Player(Replacing):
    """The source, and the analyst who follows a strategy; what is announced is what it sees."""

    def __init__(self, strategy: Event, rng: random.Random) -> None:
        self.strategy = strategy
        self.rng = rng
        self.shown: tuple[str, ...] = ()
        self.place = strategy.root
        self.see([START])
        self.at_start = self.wanted() != BEGIN
        """Whether the first question is what the start shows."""

    def see(self, labels: Iterable[str]) -> None:
        """Go on to where the label that the strategy knows leads."""
        if self.place >= 0:
            known = self.strategy.nodes[self.place]
            self.place = next((known[label] for label in labels if label in known), REJECT)

    def wanted(self) -> str | None:
        """Return what the strategy asks here; None where it has seen enough."""
        return self.strategy.asks[self.place] if self.place >= 0 else None

    def _randbelow(self, n: int) -> int:
        return self.rng.randrange(n)

    def getrandbits(self, k: int) -> int:
        return self.rng.getrandbits(k)

    def observe(self, *values: object) -> None:
        self.shown = (*self.shown, f"observe {text_of(values[0] if len(values) == 1 else values)}")

    def choose(self, options: Any) -> Any:
        """Answer as the strategy says; anything where it has seen enough."""
        values = options_of(options)
        texts = option_texts(values)
        if not self.at_start:
            self.see(labels_of_question(self.shown, texts))
        self.at_start = False
        self.shown = ()
        action = self.wanted()
        if action is not None and action not in texts:
            raise UsageError(f"the strategy asks {action!r}; the program offers {', '.join(texts)[:80]}")
        return values[0 if action is None else texts.index(action)]
