"""The proved checker beside the Python checker: files, answers of the engine, and mutants of both.

``python formal/compare.py`` demands one verdict (valid, not valid, malformed) on every certificate of a kind
that the proved checker covers, and prints a table of how many there were and how long each checker took.
Run it in the top folder, with the package installed or on the path; ``formal/check`` builds the checker.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BINARY = HERE / "build" / "bisimdist-formal"
SCRIPT = HERE.parent / "bisimdist" / "privacy" / "report" / "web" / "proved.js"
NATIVE: tuple[str | Path, ...] = (BINARY, "--batch")
IN_NODE: tuple[str | Path, ...] = ("node", HERE / "browser" / "batch.js", SCRIPT)
CORPUS = HERE.parent / "tests" / "certificates"
COVERED = (
    None,
    "delta",
    "leakage",
    "metric",
    "hmm-budget",
    "hmm-all-lengths",
    "hmm-no-budget",
    "hmm-several",
    "composition",
)
MEASURES = ("tv", "chi2", "kl", "hellinger", "renyi:3", "bayes", "min-entropy")
sys.path.insert(0, str(HERE.parent))

Document = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A certificate with the group that it is counted in."""

    group: str
    text: bytes


def corpus() -> Iterator[Case]:
    """Yield the files of the test-suite, of all kinds."""
    for path in sorted(CORPUS.glob("*/**/*.json")):
        yield Case(f"files, {path.relative_to(CORPUS).parts[0]}", path.read_bytes())


def answers(count: int) -> Iterator[Case]:
    """Yield certificates of the engine on random chains and examples."""
    from bisimdist.automata.metric.ask import metric  # noqa: PLC0415
    from bisimdist.distances.bound.ask import bound  # noqa: PLC0415
    from bisimdist.models.library.dining_cryptographers import dining_cryptographers  # noqa: PLC0415
    from bisimdist.models.library.dining_cryptographers_pa import dining_cryptographers_pa  # noqa: PLC0415
    from bisimdist.models.library.leaky_retry import leaky_retry  # noqa: PLC0415
    from bisimdist.models.library.pin_checking import pin_checking  # noqa: PLC0415
    from bisimdist.models.library.random_chain import random_lmc  # noqa: PLC0415
    from bisimdist.privacy.delta.ask import delta  # noqa: PLC0415 - only where answers are wanted
    from bisimdist.privacy.leakage.ask import leakage  # noqa: PLC0415
    from bisimdist.progress import Deadline  # noqa: PLC0415

    fixed: list[Callable[[], Any]] = [
        lambda: delta(dining_cryptographers(3), "1.0002"),
        lambda: delta(dining_cryptographers(4), "1.0002"),
        lambda: delta(leaky_retry(), "101/100"),
        lambda: bound(dining_cryptographers(3), "1.0002"),
        lambda: bound(dining_cryptographers(4), "1.0002", distance="lbd"),
        *(
            lambda kind=kind, make=make: metric(make(), kind)
            for kind in ("accumulative", "amortised")
            for make in (pin_checking, lambda: dining_cryptographers_pa(3, "1/3"))
        ),
    ]
    for ask in fixed:
        yield Case("answers", json.dumps(ask().certificate()).encode())
    for seed in range(count):
        chance = random.Random(seed)
        chain = random_lmc(
            chance.randint(4, 9), 2, chance.randint(1, 3), seed, denominator=chance.choice([2, 6, 100])
        )
        alpha = chance.choice(["1", "1", "11/10", "3/2", "2"])
        pairs = [(chain.states[0], chain.states[1])]
        if seed % 3 == 0:
            answer: Any = delta(chain, alpha, pairs=pairs, gap="1/10")
        elif seed % 3 == 1:
            answer = leakage(chain, chance.choice(MEASURES), gap="1/10", deadline=Deadline.after(0.2))
        else:
            precision = chance.choice([None, None, "1/1000"])
            answer = bound(
                chain, alpha, pairs=pairs, distance=chance.choice(["bd", "lbd"]), precision=precision
            )
        yield Case("answers", json.dumps(answer.certificate()).encode())


def compositions(count: int) -> Iterator[Case]:
    """Yield certificates of compositions of mechanisms with finite laws."""
    from bisimdist.errors import UsageError  # noqa: PLC0415
    from bisimdist.privacy.compose.ask import compose  # noqa: PLC0415 - only where answers are wanted

    for seed in range(count):
        chance = random.Random(seed)
        mechanisms: list[dict[str, Any]] = []
        for _ in range(chance.randint(1, 3)):
            options = chance.choice([2, 2, 3, 5])
            parts = {
                "randomised-response": {"truth": f"{chance.randint(60, 95)}/100", "options": options},
                "pure": {"epsilon": f"{chance.randint(1, 12)}/10"},
                "approximate": {
                    "epsilon": f"{chance.randint(0, 12)}/10",
                    "delta": f"1/{10 ** chance.randint(1, 6)}",
                },
            }
            kind = chance.choice(list(parts))
            mechanisms.append({kind: parts[kind], "times": chance.choice([1, 1, 2, 5])})
        asked = compose(
            mechanisms, relation=chance.choice(["add-remove", "remove", "replace"]), width="1/100"
        )
        asked.delta(f"{chance.randint(0, 30)}/10")
        if seed % 2:
            with suppress(UsageError):  # where no epsilon exists
                asked.epsilon(chance.choice(["1/2", "3/4", "99/100", "0"]))
        yield Case("compositions", json.dumps(asked.certificate()).encode())


def mutants(bases: list[Document], count: int, seed: int) -> Iterator[Case]:
    """Yield certificates with one to three changes; most have the digest of the model that they then hold."""
    chance = random.Random(seed)
    for _ in range(count):
        document = json.loads(json.dumps(chance.choice(bases)))
        if chance.random() < 0.2:
            weaken(document)
        for _ in range(chance.choice([1, 1, 1, 2, 3])):
            change(document, chance)
        if chance.random() < 0.9:
            sign(document)
        yield Case("mutants", json.dumps(document).encode())


def weaken(document: Document) -> None:
    """Let the claims say less, so that more of the changes are harmless."""
    claims = [claim for part in document.get("parts", [document]) for claim in part["claims"]]
    for claim in claims:
        if "upper" in claim:
            claim |= (
                {"upper": "inf", "lower": "1"}
                if document.get("kind") == "metric"
                else {"upper": "1", "lower": "0"}
            )
        elif claim.get("holds") and claim["ratio"] != "inf":
            claim["ratio"] = "1000"
            for key in ("word", "probabilities", "parameters"):
                claim.pop(key, None)


def sign(document: Document) -> None:
    """Put the digest of the model into a document, where it holds a model."""
    from bisimdist.checker.core.automaton import read_automaton  # noqa: PLC0415
    from bisimdist.checker.core.chain import read_chain  # noqa: PLC0415
    from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation  # noqa: PLC0415

    model = document.get("model")
    if isinstance(model, dict) and model.get("kind") == "hmm":
        text = json.dumps(model, sort_keys=True, separators=(",", ":"))
        document["digest"] = f"sha256:{sha256(text.encode()).hexdigest()}"
        return
    try:
        read: Callable[[Any], Any] = read_automaton if document.get("kind") == "metric" else read_chain
        digest = document["digest"] = read(document["model"]).digest()
        for part in document.get("reduced", ()):
            part["steps"][0]["before"] = digest
            if part["steps"][0]["name"] == "cut":
                part["steps"][0]["after"] = digest
    except (MalformedCertificate, RuleViolation, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a document: a container and a key of it."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield node, key
            yield from places(value)


def change(document: Document, chance: random.Random) -> None:
    """Change one place in a document: numbers and names most of all."""
    found = list(places(document))
    texts = [(node, key) for node, key in found if isinstance(node[key], str)]
    node, key = chance.choice(texts if chance.random() < 0.75 else found)
    value = node[key]
    if isinstance(value, str) and key not in ("format", "digest", "kind"):
        other, place = chance.choice(texts)
        name = other[place] if other[place] != value else value + "x"
        node[key] = nudged(value, chance) if value[:1] in "-0123456789" else name
    elif isinstance(value, bool):
        node[key] = not value
    elif isinstance(value, int):
        node[key] = chance.choice([value + 1, value - 1, 0, 1, 2])
    elif isinstance(value, list) and value and chance.random() < 0.8:
        spot = chance.randrange(len(value))
        chance.choice([lambda: value.pop(spot), lambda: value.append(value[spot]), value.reverse])()
    elif isinstance(value, dict) and value and chance.random() < 0.8:
        one, other = chance.choice(list(value)), chance.choice(list(value))
        if chance.random() < 0.5:
            value.pop(one)
        else:
            value[one], value[other] = value[other], value[one]
    elif isinstance(node, dict):
        node.pop(key)


def nudged(text: str, chance: random.Random) -> str:
    """Return another number, written as it may be written or nearly so."""
    above, slash, below = text.partition("/")
    try:
        numerator, denominator = int(above, 0), int(below or "1", 0)
    except ValueError:
        return text + "0"
    move = chance.choice([1, -1, 1, -1, numerator, -numerator, 10])
    options = [
        f"{numerator + move}/{denominator}",
        f"{numerator}/{denominator + 1}",
        f"{1000 * numerator + chance.choice([1, -1])}/{1000 * denominator}",
        f"{numerator + move}{slash}{below}",
        f"{-numerator}{slash}{below}",
        f"{2 * numerator}/{2 * denominator}",
        chance.choice(["0", "1", "1/2", "2", "-1", "1/0", "01", "0x1F", "1.5", " 1"]),
    ]
    return chance.choice(options)


def of_python(text: bytes) -> tuple[str, float]:
    """Return the verdict of the Python checker, and the seconds that it took."""
    from bisimdist.checker import MalformedCertificate, check_certificate  # noqa: PLC0415

    start = time.perf_counter()
    try:
        verdict = "valid" if check_certificate(text).valid else "not valid"
    except MalformedCertificate:
        verdict = "malformed"
    return verdict, time.perf_counter() - start


def of_proved(texts: Iterable[bytes], words: tuple[str | Path, ...] = NATIVE) -> list[tuple[str, float]]:
    """Return the same of the proved checker, for many certificates at once."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for number, text in enumerate(texts):
            path = Path(folder) / f"{number}.json"
            path.write_bytes(text)
            names.append(str(path))
        lines = subprocess.run(
            words,
            input="".join(f"{name}\n" for name in names),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
    if len(lines) != len(names):
        raise SystemExit("the proved checker did not answer every certificate")
    return [
        (verdict.partition(":")[0], float(seconds))
        for seconds, verdict in (line.split("\t") for line in lines)
    ]


def compare(cases: list[Case], words: tuple[str | Path, ...] = NATIVE) -> int:
    """Print the table, and return how often the two differ."""
    proved = of_proved((case.text for case in cases), words)
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    seconds: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    different = []
    for case, (verdict, took) in zip(cases, proved, strict=True):
        if verdict == "not covered":
            rows[case.group][verdict] += 1
            continue
        expected, python_took = of_python(case.text)
        rows[case.group][expected] += 1
        seconds[case.group][0] += python_took
        seconds[case.group][1] += took
        if verdict != expected:
            different.append((case, expected, verdict))
    columns = ("valid", "not valid", "malformed", "not covered")
    print(f"{'':20} {' '.join(f'{name:>12}' for name in columns)} {'Python s':>10} {'proved s':>10}")
    for group, counts in rows.items():
        numbers = " ".join(f"{counts[name]:12}" for name in columns)
        print(f"{group:20} {numbers} {seconds[group][0]:10.2f} {seconds[group][1]:10.2f}")
    for case, expected, verdict in different[:10]:
        with tempfile.NamedTemporaryFile("wb", suffix=".json", delete=False) as file:
            file.write(case.text)
        print(f"{file.name}: Python says {expected}, the proved checker {verdict}")
    print(f"{len(different)} different verdicts")
    return len(different)


def main() -> int:
    """Compare, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--script", action="store_true", help="the script for browsers, in Node.js")
    options = parser.parse_args()
    if not options.script and not BINARY.exists():
        raise SystemExit("formal/compare.py: the proved checker is not built; run formal/check")
    cases = list(corpus())
    if options.answers:
        cases += [*answers(options.answers), *compositions(options.answers // 10)]
    bases = []
    for case in cases:
        if "malformed" not in case.group and (document := json.loads(case.text)).get("kind") in COVERED:
            bases.append(document)
    cases.extend(mutants(bases, options.mutants, options.seed))
    return min(compare(cases, IN_NODE if options.script else NATIVE), 1)


if __name__ == "__main__":
    raise SystemExit(main())
