"""A chain that is only known roughly, learned from runs."""

from __future__ import annotations

from dataclasses import dataclass

from bisimdist.errors import Located, UsageError
from bisimdist.faces.asked.conversion import WritingModel, chosen_format
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import (
    CONFIDENCE,
    JSON,
    LABEL_COLUMN,
    OUTPUT,
    OUTPUT_FORMAT,
    RUN_COLUMN,
    SEEN_ONLY,
    STATE_COLUMN,
)
from bisimdist.faces.asked.question import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Learn(WritingModel):
    """Learn a chain from runs: intervals that contain the true probabilities, with confidence.

    TRACES is a table (CSV) with a line for each step. It must show the states: name their column with
    --observed-state. Name with --label the column that an observer of the finished model sees. Answers about
    the model carry the confidence.
    """

    command = "learn"
    group = Group.TOOLS
    argument = "TRACES"
    options = (
        STATE_COLUMN,
        LABEL_COLUMN,
        RUN_COLUMN,
        SEEN_ONLY,
        CONFIDENCE.but(help="The probability that the true chain is inside."),
        OUTPUT_FORMAT,
        OUTPUT,
        JSON,
    )

    @classmethod
    def read(cls, given: Given) -> Learn:
        from bisimdist.bounded import decoded, read_file
        from bisimdist.modelling.learn.ask import learn, runs_of_csv

        state, confidence = given[STATE_COLUMN], given[CONFIDENCE]
        if state is None:
            raise UsageError(
                "--observed-state: name the column of the states; for hidden states no bounds are known, "
                "but 'bisimdist audit' compares samples with a model"
            )
        chosen = chosen_format(given)
        name = given.argument
        with Located(source=name):
            text = decoded(read_file(name, expected="a table of runs (CSV)"))
            runs = runs_of_csv(text, state, given[LABEL_COLUMN], given[RUN_COLUMN])
            model = learn(runs, confidence, seen_only=given[SEEN_ONLY])
        return cls(model=model, format=chosen, output=given[OUTPUT])
