"""One honest certificate after the other is attacked, and everything is counted."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bisimdist.checker import MalformedCertificate, check_certificate
from tests.forger.filed import filed, tightened
from tests.forger.forge import attack, lie_by_chance, lies
from tests.forger.logic import logic_lies
from tests.forger.templates import KINDS, Document, Template, shuffled, templates
from tests.forger.younger import byte_lies, piece_lies

__all__ = ["Raid", "raid"]


@dataclass(slots=True)
class Raid:
    """What attacks have come to.

    Parameters
    ----------
    seed
        What models are drawn from.
    following
        The number of the next model.
    solved
        How searches by Z3 ended, by kind: ``unsat``, ``sat`` (a forgery), ``unknown``.
    chanced
        How many documents were changed by chance, by kind and by what the checker said.
    forged
        What was accepted although it is false.
    crashes
        Errors of the checker that are none of its verdicts.
    """

    seed: int
    following: int = 0
    solved: Counter[str] = field(default_factory=Counter)
    chanced: Counter[str] = field(default_factory=Counter)
    forged: list[str] = field(default_factory=list)
    crashes: Counter[str] = field(default_factory=Counter)

    @classmethod
    def load(cls, path: Path) -> Raid:
        """Read what `save` wrote."""
        plain = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            plain["seed"],
            plain["following"],
            Counter(plain["solved"]),
            Counter(plain["chanced"]),
            plain["forged"],
            Counter(plain["crashes"]),
        )

    def save(self, path: Path) -> None:
        """Write all of it, or nothing."""
        fresh = path.with_suffix(".new")
        plain = {name: getattr(self, name) for name in self.__slots__}
        fresh.write_text(json.dumps(plain, indent=1), encoding="utf-8")
        fresh.replace(path)

    def table(self) -> str:
        """Return the counts as text, a line for a kind."""
        kinds = sorted({name.rsplit(": ", 1)[0] for name in (*self.solved, *self.chanced)})
        columns = ("unsat", "unknown", "sat", "refused", "malformed", "accepted")
        lines = [f"{'kind':<24}" + "".join(f"{name:>11}" for name in columns)]
        for kind in [*kinds, "all"]:
            cells = []
            for column in columns:
                part = self.solved if column in {"unsat", "unknown", "sat"} else self.chanced
                chosen = kinds if kind == "all" else [kind]
                cells.append(f"{sum(part[f'{name}: {column}'] for name in chosen):>11}")
            lines.append(f"{kind:<24}" + "".join(cells))
        lines += [f"crash ({count}): {text}" for text, count in self.crashes.most_common()]
        return "\n".join([*lines, *self.forged])


def raid(
    done: Raid,
    number: int,
    *,
    kinds: Sequence[str] = KINDS,
    chances: int = 20,
    solver: bool = True,
    seconds: float = 5.0,
    folder: Path | None = None,
) -> None:
    """Attack the certificates of one model; a forgery is written into the folder, where there is one."""
    source = random.Random(f"{done.seed}:{number}:raid")
    corpus = filed()
    for template in (*templates(done.seed, number, kinds), tightened(corpus[number % len(corpus)])):
        if solver:
            _by_solver(done, template, source, seconds, folder)
        for _ in range(chances):
            _by_chance(done, template, source, folder)
    if chances:
        for kind, document in (*logic_lies(done.seed, number), *piece_lies(done.seed, number)):
            _judge(done, Template(kind, f"{done.seed}:{number}", document, None, None), document, folder)
        for changed, said in byte_lies(done.seed, number, chances):
            done.chanced[f"compact tables: {said}"] += 1
            if said == "accepted":
                done.forged.append(f"FORGED by chance: compact tables {done.seed}:{number}: {changed.hex()}")
    done.following = number + 1


def _by_solver(
    done: Raid, template: Template, source: random.Random, seconds: float, folder: Path | None
) -> None:
    ways = lies(template)
    for lie in ways:
        document = template.document if source.random() < 0.5 else shuffled(source, template.document)
        found = attack(template, lie, document, source, seconds=seconds)
        done.solved[f"{template.kind}: {found.outcome.ending.value}"] += 1
        done.crashes.update(f"{template.kind}: {text}"[:160] for text in found.crashes)
        if found.forgery is not None:
            _note(done, template, found.forgery, "by Z3", folder)


def _by_chance(done: Raid, template: Template, source: random.Random, folder: Path | None) -> None:
    structure = template.document if source.random() < 0.6 else shuffled(source, template.document)
    document = lie_by_chance(template, structure, source)
    if document is not None:
        _judge(done, template, document, folder)


def _judge(done: Raid, template: Template, document: Document, folder: Path | None) -> None:
    try:
        verdict = "accepted" if check_certificate(json.dumps(document)).valid else "refused"
    except MalformedCertificate:
        verdict = "malformed"
    except Exception as error:  # the checker has no other errors
        verdict = "refused"
        done.crashes[f"{template.kind}: {type(error).__name__}: {error}"[:160]] += 1
        _write(document, template, "crash", folder)
    done.chanced[f"{template.kind}: {verdict}"] += 1
    if verdict == "accepted":
        _note(done, template, document, "by chance", folder)


def _note(done: Raid, template: Template, document: Document, how: str, folder: Path | None) -> None:
    done.forged.append(f"FORGED {how}: {template.kind} {template.source}: {document['claims']}"[:400])
    _write(document, template, "forged", folder)


def _write(document: Document, template: Template, what: str, folder: Path | None) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{what}-{template.kind}-{template.source}".replace(" ", "-").replace(":", "-")
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
