"""The memory of a module: what a run has written over what the module began with.

It is kept in words of eight bytes, by number. What a popped stack frame held is forgotten; should anything
read it, or have read it, the exploration begins again and remembers it (``docs/theory/wasm.md``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from bisimdist.programs.wasm.numbers import Trap

PAGE = 1 << 16
_WORD = 8
_FULL = 0xFF
_MASK = (1 << 64) - 1
_ONES = 0x0101010101010101
_SPREAD = [sum(0xFF << (8 * k) for k in range(8) if part >> k & 1) for part in range(256)]
"""By eight bits that say which bytes are meant the mask of these bytes."""


class Remembered(BaseException):
    """Something that was forgotten is read: the words have to be remembered from now on."""


class _Partial(NamedTuple):
    """A word of which only some bytes have been written: the bits of `known` say which."""

    value: Any
    known: int


_NONE = _Partial(0, 0)


class _Begun(dict[int, Any]):
    """The words that the module began with, as far as they were read; what was forgotten is not there."""

    def __init__(self, words: dict[int, int], forgotten: set[int], kept: set[int]) -> None:
        self.words = words
        self.forgotten = forgotten
        self.kept = kept

    def __missing__(self, word: int) -> int:
        if word in self.forgotten:
            self.kept.add(word)
            raise Remembered
        value = self[word] = self.words.get(word, 0)
        return value


class Memory:
    """What code reads and writes.

    words: what the module begins with, by number of the word.
    pages, most: how many pages there are, and may be.
    kept: the words that are never forgotten.
    lines: where the numbers of lines of 64 bytes are noted that are read or written, if anybody sees that.
    """

    def __init__(
        self, words: dict[int, int], pages: int, most: int, kept: set[int], lines: list[int] | None
    ) -> None:
        self.kept = kept
        self.forgets = True
        """Whether what popped stack frames held is forgotten."""
        self.forgotten: set[int] = set()
        self.begun = _Begun(words, self.forgotten, kept)
        self.most = most
        self.lines: Any = lines
        self.open({}, pages)
        self.read = {size: self._reader(size) for size in (1, 2, 4, 8)}
        self.write = {size: self._writer(size) for size in (1, 2, 4, 8)}
        """By how many bytes what reads or writes them at an address, as an unsigned number."""

    def open(self, written: dict[int, Any], pages: int) -> None:
        """Go on with what a state remembers."""
        self.written = written
        self.shared = True
        """Whether what is written belongs to a state, too, and has to be copied before it changes."""
        self.pages = pages
        self.size = pages * PAGE

    # words

    def _own(self) -> dict[int, Any]:
        if self.shared:
            self.written = dict(self.written)
            self.shared = False
        return self.written

    def _word(self, number: int, known: int) -> Any:
        """Return a word, of which these bytes are wanted."""
        value = self.written.get(number)
        if type(value) is not _Partial:
            return self.begun[number] if value is None else value
        if known & ~value.known:
            return (self.begun[number] & ~_SPREAD[value.known] & _MASK) | value.value
        return value.value

    def _put(self, number: int, known: int, value: Any) -> None:
        """Write some bytes of a word; the other bytes of the value are 0."""
        written = self.written if not self.shared else self._own()
        if known == _FULL:
            written[number] = value
            return
        old = written.get(number, _NONE)
        if type(old) is _Partial:
            merged = (old.value & (_MASK ^ _SPREAD[known])) | value
            both = old.known | known
            written[number] = merged if both == _FULL else _Partial(merged, both)
        else:
            written[number] = (old & (_MASK ^ _SPREAD[known])) | value

    # what instructions do

    def _reader(self, size: int) -> Callable[[Any], Any]:
        mask, bytes_of, lines = (1 << (8 * size)) - 1, (1 << size) - 1, self.lines
        begun, last = self.begun, _WORD - size

        def read(address: Any) -> Any:
            if address + size > self.size:
                raise Trap("memory out of bounds")
            if lines is not None:
                self._noted(address, size)
            number = address >> 3
            value = self.written.get(number)
            place = address & 7
            if value is None:
                value = begun[number]
            elif type(value) is _Partial:
                value = self._word(number, (bytes_of << place) & _FULL)
            if not place:
                return value if size == _WORD else value & mask
            if place <= last:
                return (value >> (8 * place)) & mask
            over = place + size - _WORD
            rest = self._word(number + 1, (1 << over) - 1) & ((1 << (8 * over)) - 1)
            return (value >> (8 * place)) | (rest << (8 * (_WORD - place)))

        return read

    def _writer(self, size: int) -> Callable[[Any, Any], None]:
        mask, bytes_of = (1 << (8 * size)) - 1, (1 << size) - 1

        def write(address: Any, value: Any) -> None:
            if address + size > self.size:
                raise Trap("memory out of bounds")
            if self.lines is not None:
                self._noted(address, size)
            number = (address >> 3).__index__()
            place = address & 7
            if size != _WORD:
                value &= mask
            elif not place:
                (self.written if not self.shared else self._own())[number] = value
                return
            if place + size <= _WORD:
                self._put(number, bytes_of << place, value << (8 * place))
                return
            room = _WORD - place
            inner = value & ((1 << (8 * room)) - 1)
            self._put(number, (bytes_of << place) & _FULL, inner << (8 * place))
            self._put(number + 1, bytes_of >> room, value >> (8 * room))

        return write

    def _noted(self, address: Any, size: int) -> None:
        first = int(address) >> 6
        self.lines.append(first)
        if (address + size - 1) >> 6 != first:
            self.lines.append(first + 1)

    def grow(self, pages: Any) -> int:
        """Add pages; return how many there were, or -1 as an unsigned number."""
        before = self.pages
        wanted = before + int(pages)
        if wanted > self.most:
            return 0xFFFFFFFF
        self.pages, self.size = wanted, wanted * PAGE
        return before

    def fill(self, place: Any, value: Any, count: Any) -> None:
        """Write the same byte many times."""
        place, value = int(place), value & 0xFF
        for at, size in self.pieces(int(count), place):
            self.write[size](place + at, value if size == 1 else value * _ONES)

    def copy(self, to: Any, source: Any, count: Any) -> None:
        """Copy bytes, also where the places overlap."""
        to, source = int(to), int(source)
        pieces = self.pieces(int(count), to, source)
        for (at, size), value in [((at, size), self.read[size](source + at)) for at, size in pieces]:
            self.write[size](to + at, value)

    def store(self, place: int, content: bytes) -> None:
        """Write bytes."""
        for at, size in self.pieces(len(content), place):
            self.write[size](place + at, int.from_bytes(content[at : at + size], "little"))

    def pieces(self, count: int, *places: int) -> list[tuple[int, int]]:
        """Return where pieces of one or eight bytes begin, that are whole words at each of the places."""
        if max(places) + count > self.size:
            raise Trap("memory out of bounds")
        first = min(-places[0] % _WORD, count) if len({place % _WORD for place in places}) == 1 else count
        words = range(first, count - _WORD + 1, _WORD)
        last = first + _WORD * len(words)
        return [
            *((at, 1) for at in range(first)),
            *((at, _WORD) for at in words),
            *((at, 1) for at in range(last, count)),
        ]

    # what is forgotten

    def pop(self, low: Any, high: Any) -> None:
        """Forget what a stack frame held between two addresses."""
        if not self.forgets:
            return
        span = range((int(low) + 7) >> 3, int(high) >> 3)
        few = self.written if len(span) > len(self.written) else span
        self._forget([word for word in few if word in span and word in self.written])

    def drop(self) -> None:
        """Forget, before a draw, every word of which nobody has read yet what was written before a draw."""
        if self.forgets:
            self._forget(self.written)

    def _forget(self, words: Iterable[int]) -> None:
        loose = [word for word in words if word not in self.kept]
        read = [word for word in loose if word in self.begun]
        if read:
            self.kept.update(read)
            raise Remembered
        if loose:
            self.forgotten.update(loose)
            own = self._own()
            for word in loose:
                del own[word]

    def settled(self) -> None:
        """Make what was written so far what the module begins with."""
        for number, value in self.written.items():
            if type(value) is _Partial:
                before = self.begun.words.get(number, 0)
                value = before & (_MASK ^ _SPREAD[value.known]) | value.value  # noqa: PLW2901
            self.begun.words[number] = value
        self.open({}, self.pages)

    def frozen(self, freeze: Callable[[Any], Any]) -> tuple[tuple[Any, ...], ...]:
        """Return what is written, in a fixed order, as what can be compared."""
        return tuple(
            (number, freeze(one.value), one.known) if type(one) is _Partial else (number, freeze(one))
            for number, one in sorted(self.written.items())
        )

    @staticmethod
    def thawed(items: Iterable[tuple[Any, ...]], thaw: Callable[[Any], Any]) -> dict[int, Any]:
        """Return what was written, of what `frozen` returned."""
        return {
            item[0]: thaw(item[1]) if len(item) == 2 else _Partial(thaw(item[1]), item[2]) for item in items
        }
