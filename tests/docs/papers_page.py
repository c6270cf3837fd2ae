"""The page of the papers, made of the rows: ``python -m tests.docs.papers_page`` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator

from bisimdist.modelling.paper.rows import Paper, Row, Run, papers
from tests.docs.markdown import ROOT

__all__ = ["PAGE", "page"]

PAGE = ROOT / "docs/papers.md"

BEGIN = """# The papers, number by number

Every numbered statement of the five papers behind this project has a section here. The section has the
command that shows the statement, and says what the command finds and what the paper prints. Then it names the
note that proves the statement, the section of a tutorial, the code, and a test. A statement without a command
says how it is tested, or why there is nothing to run.

- `bisimdist paper` lists the statements with their commands.
- `bisimdist paper CMP18 Figure 3` runs the commands of one statement, and shows what the paper prints beside
  what is found. `bisimdist paper cmp18 fig. 3` does the same.
- `bisimdist paper CMP18` runs the commands of a paper, `bisimdist paper --all` those of all papers.
- `bisimdist example --papers` lists the case studies with the parameters of the papers.

What the papers leave open, and what became of it, has [a page of its own](open-questions.md).

The keys are those of [the references](references.md). Of LWZ22 there are two versions, which number
differently: Algorithms 3 and 4 of the conference version are Algorithms 4 and 5 of the long one. The words
"in the paper" stand before what the paper prints, and nothing else; where they are missing, the value is our
own. A budget is e^epsilon, a bound on the ratio of two probabilities: the budget 2 is epsilon = ln(2).
"""


def page() -> str:
    """Return the page."""
    return BEGIN + "".join(map(_part, papers()))


def _part(paper: Paper) -> str:
    about = f"{paper.authors}: {paper.title}, {paper.venue}."
    head = f"\n## {paper.key}\n\n{about}\n\nNumbers: {paper.numbers}.\n"
    return head + "".join(f"\n### {row.name}\n\n{''.join(_lines(row))}" for row in paper.rows)


def _lines(row: Row) -> Iterator[str]:
    """Yield the paragraphs of a statement."""
    see = f"See [{row.see}](#{row.see.lower().replace(' ', '-').replace('.', '')})." if row.see else ""
    yield f"{row.what[0].upper()}{row.what[1:]}.\n\n"
    if row.words or see:
        yield " ".join(part for part in (row.words, see) if part) + "\n\n"
    if row.runs:
        yield "\n".join(["```sh", *row.script()[1:], "```"]) + "\n\n"
    places = {
        "Place in the paper": row.at,
        "Proof": row.proof,
        "Tutorial": row.tutorial and f"[section](tutorials/{row.tutorial})",
        "Code": "" if row.where.startswith("not needed") else row.where,
        "Test": row.test and " ".join(f"`{part}`" for part in row.test.split("::")),
    }
    lines = [*map(_found, row.runs), *(f"{name}: {text}" for name, text in places.items() if text)]
    yield "".join(f"- {line}\n" for line in lines)


def _found(run: Run) -> str:
    label = run.label and f"{run.label}. "
    printed = f" In the paper: `{run.printed}`." if run.printed else ""
    return f"{label}Found: `{run.sentence}`.{printed}{' The paper errs.' if run.errs and printed else ''}"


if __name__ == "__main__":
    PAGE.write_text(page())
