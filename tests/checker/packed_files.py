"""The files of ``tests/certificates/*/compact``, put together byte by byte.

``python -m tests.checker.packed_files`` writes those that are said here.
"""

from __future__ import annotations

import json

from tests.checker.corpus import FOLDER
from tests.checker.packed import chain
from tests.checker.packed_correct import CORRECT
from tests.checker.packed_incorrect import INCORRECT
from tests.checker.packed_malformed import MALFORMED
from tests.checker.packed_parts import HALF, STATES, WHOLE

FILES = {
    "correct": CORRECT,
    "incorrect": {name: packed for name, (packed, _) in INCORRECT.items()},
    "malformed": MALFORMED,
}
"""By folder, and by name of the file."""
OTHER = chain(STATES, s={"u": "1/2", "v": "1/2"}, t={"u": "1/2", "v": "1/2"}, u=WHOLE, v=HALF)


def main() -> None:
    """Write the files."""
    for folder, files in FILES.items():
        (FOLDER / folder / "compact").mkdir(exist_ok=True)
        for name, packed in files.items():
            (FOLDER / folder / "compact" / f"{name}.compact").write_bytes(packed.content())
    lines = [f"{name}: {falsehood}\n" for name, (_, falsehood) in INCORRECT.items()]
    said = FOLDER / "incorrect" / "compact" / "falsehoods.txt"
    lines += [
        line for line in said.read_text(encoding="utf-8").splitlines(keepends=True) if "-drawn-" in line
    ]
    said.write_text("".join(lines), encoding="utf-8")
    model = FOLDER / "incorrect" / "compact" / "G2-another-model.model"
    model.write_text(json.dumps(OTHER) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
