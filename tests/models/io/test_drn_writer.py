"""DRN as bisimdist writes it, read back by Storm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from bisimdist.models.io import load_model, write_drn
from bisimdist.models.lmc import LMC
from tests.strategies import lmcs


def test_labels_that_are_no_identifiers_are_escaped() -> None:
    chain = LMC.from_mappings({"s": "a b", "t": "if"}, {"s": {"t": 1}, "t": {"t": 1}}, [("t", "s")])
    text = write_drn(chain)
    assert "state 0 _xa_20_b\n" in text
    assert "state 1 init " in text


@pytest.mark.extra("storm")
@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chain=lmcs(4))
def test_storm_reads_the_same_chain(chain: LMC, tmp_path: Path) -> None:
    (tmp_path / "chain.drn").write_text(write_drn(chain))
    found = load_model(tmp_path / "chain.drn")
    assert isinstance(found, LMC)
    assert (found.labels, found.rows) == (chain.labels, chain.rows)
