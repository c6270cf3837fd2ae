"""Fuzz a reader with atheris: ``python -m tests.fuzz formula -runs=100000 -max_total_time=600``.

Options that are not known here go to libFuzzer. The corpus is kept in the folder ``--corpus``; what breaks
the property is written into the folder ``--findings``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["bisimdist"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--corpus", type=Path, default=Path("fuzz-corpus"))
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options, rest = parser.parse_known_args()
    target = TARGETS[options.target]

    def take(data: bytes) -> None:
        target(data)

    name = options.target.replace(" ", "-")
    corpus, findings = options.corpus / name, options.findings / name
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = [f"-max_len={target.longest}", "-timeout=20", "-rss_limit_mb=2048"]
    if target.tokens:
        words = corpus.with_suffix(".dict")
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.tokens), encoding="ascii")
        limits.append(f"-dict={words}")
    arguments = [sys.argv[0], *limits, f"-artifact_prefix={findings}/", *rest, str(corpus)]
    atheris.Setup(arguments, take)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(
        chr(c) if c < 128 and (chr(c).isalnum() or chr(c) in " ()<>+:/.") else f"\\x{c:02X}"
        for c in word.encode()
    )


if __name__ == "__main__":
    main()
