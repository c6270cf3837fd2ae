"""Workers: the same bytes as without them, whoever ends meanwhile."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from flint import fmpq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bisimdist.budgets.budget.ask import mechanism_budget
from bisimdist.budgets.budget.program import program_budget
from bisimdist.budgets.engine.budget import geometric_family, noisy_max_family
from bisimdist.budgets.verify.ask import epsilon
from bisimdist.checker import check_certificate
from bisimdist.cluster import Cluster, checked_cluster, expect_ourselves
from bisimdist.distances.bound import work
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine import flat_cluster, flat_engine, flat_layout
from bisimdist.distances.engine.flat_cluster import SpreadWork, spread_over
from bisimdist.distances.engine.flat_engine import FlatTables, FlatWork, NoBracketError, Spread, flat_tables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.errors import LimitError, UsageError
from bisimdist.models.library.hidden_markov import noisy_max_neighbours
from bisimdist.models.library.programs.responses import rappor
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.parallel import Pool
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.delta.jobs import delta_of_each
from bisimdist.privacy.profile.ask import profile
from bisimdist.programs.front import explore
from bisimdist.progress import NEVER, Deadline, Progress, silent
from tests.campaign.campaign import Orders, Record, examine_several
from tests.campaign.draw import KINDS
from tests.strategies import alphas

pytestmark = [
    pytest.mark.extra("cluster"),
    pytest.mark.filterwarnings("default"),  # what Dask leaves behind is not ours
]

WIDTH = fmpq(1, 10**9)


@contextmanager
def started(count: int, processes: bool = False, threads: int = 1) -> Iterator[tuple[Any, Cluster]]:
    import distributed  # noqa: PLC0415

    with (
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=threads,
            processes=processes,
            dashboard_address=":0",
            silence_logs=50,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        yield local, Cluster(client, count)


@pytest.fixture(scope="module")
def pair() -> Iterator[Cluster]:
    with started(2, threads=2) as (_, cluster):
        yield cluster


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flat_layout, "LARGE", 0)
    monkeypatch.setattr(flat_engine, "CHUNK", 60)
    monkeypatch.setattr(flat_cluster, "LITTLE", 0)


def tables(
    model: LMC, alpha: fmpq, spread: Spread | None = None, progress: Progress = silent, **more: Any
) -> FlatTables:
    asked = tuple(combinations(range(len(model)), 2))
    layout = Layout.of(model, alpha, asked)
    assert layout is not None
    return flat_tables(model, alpha, asked, layout, WIDTH, spread=spread, progress=progress, **more)


def as_bytes(found: FlatTables) -> tuple[bytes, ...]:
    return (found.lower.tobytes(), found.upper.tobytes(), found.state.tobytes(), *found.bases())


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(21, 20)], ids=str)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_bytes(pair: Cluster, alpha: fmpq, seed: int) -> None:
    chain = random_lmc(24, successors=2 + seed, labels=2, seed=seed)
    told = set()
    found = tables(chain, alpha, spread_over(pair), lambda stage, _, __: told.add(stage))
    assert as_bytes(found) == as_bytes(tables(chain, alpha))
    assert "plans in blocks, 2 at work" in told


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("alpha", "when"), [(fmpq(1), 1), (fmpq(21, 20), 1), (fmpq(21, 20), 5)], ids=str)
def test_a_worker_that_ends_costs_its_blocks_only(alpha: fmpq, when: int) -> None:
    chain = random_lmc(24, successors=3, labels=2, seed=3)
    ended: list[str] = []
    begun: list[str] = []
    with started(3) as (local, cluster):

        def end_one(stage: str, done: int, of: int | None) -> None:
            if stage.startswith("plans") and not done:
                begun.append(stage)
            elif len(begun) >= when and stage.startswith("plans") and not ended:
                worker = next(iter(local.workers.values()))
                ended.append(worker.address)
                local.sync(worker.close)

        found = tables(chain, alpha, spread_over(cluster), end_one)
        assert ended
        assert len(cluster.workers()) == 2
    assert as_bytes(found) == as_bytes(tables(chain, alpha))


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_a_process_that_is_killed_costs_its_blocks_only() -> None:
    chain = random_lmc(24, successors=3, labels=2, seed=4)
    killed: list[int] = []
    with started(2, processes=True) as (local, cluster):

        def kill_one(stage: str, done: int, of: int | None) -> None:
            if stage.startswith("plans") and done and not killed:
                killed.append(next(iter(local.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        found = tables(chain, fmpq(1), spread_over(cluster), kill_one)
    assert killed
    assert as_bytes(found) == as_bytes(tables(chain, fmpq(1)))


@pytest.mark.usefixtures("small_blocks")
def test_blocks_that_others_make_anew_are_the_same(pair: Cluster) -> None:
    """As where Dask gives a block to another worker for once."""
    chain = random_lmc(24, successors=3, labels=2, seed=5)

    class Moving(SpreadWork):
        def _settle_in(self, blocks: list[tuple[int, int]]) -> None:
            there = self.cluster.workers()
            self.homes = {block: there[(k + self.round // 2) % 2] for k, block in enumerate(blocks)}

    for alpha in (fmpq(1), fmpq(21, 20)):
        found = tables(chain, alpha, partial(Moving, cluster=pair))
        assert as_bytes(found) == as_bytes(tables(chain, alpha))


def _forget(dask_worker: Any) -> None:
    vars(dask_worker).pop("bisimdist_held", None)


@pytest.mark.usefixtures("small_blocks")
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chain=st.builds(random_lmc, st.integers(8, 20), st.integers(2, 5), st.just(2), st.integers(1, 99)),
    alpha=alphas() | st.just(fmpq(21, 20)),
    limits=st.tuples(
        st.integers(0, 3), st.sampled_from([1, flat_engine.NEARLY, 1 << 40]), st.sampled_from([0, 50, 200])
    ),
    forgotten=st.integers(1, 12),
)
def test_plans_made_by_turns_here_and_there(
    pair: Cluster, chain: LMC, alpha: fmpq, limits: tuple[int, int, int], forgotten: int
) -> None:
    """Where rounds are shared again after some that were not, and a worker begins anew on the way."""
    rounds: list[str] = []

    def forget(stage: str, done: int, of: int | None) -> None:
        if stage.startswith("plans") and not done:
            rounds.append(stage)
            if len(rounds) == forgotten:
                pair.client.run(_forget, workers=pair.workers()[:1])

    def found(*how: Any) -> tuple[bytes, ...] | str:
        proofs: list[bool] = []
        proved = FlatWork.proved

        def proved_later(work: FlatWork, *about: Any) -> bool:
            proofs.append(proved(work, *about))
            return proofs[-1] and len(proofs) > 1

        with (
            patch.multiple(flat_engine, PATIENT=limits[0], NEARLY=limits[1]),
            patch.object(flat_cluster, "LITTLE", limits[2]),
            patch.object(FlatWork, "proved", proved_later),
        ):
            try:
                return as_bytes(tables(chain, alpha, *how))
            except NoBracketError as error:
                return str(error)

    assert found(spread_over(pair), forget) == found()


@pytest.mark.usefixtures("small_blocks")
def test_limits_hold(pair: Cluster) -> None:
    chain = random_lmc(24, successors=3, labels=2, seed=1)
    with pytest.raises(LimitError):
        tables(chain, fmpq(1), spread_over(pair), deadline=Deadline.after(0))
    assert as_bytes(tables(chain, fmpq(1), spread_over(pair))) == as_bytes(tables(chain, fmpq(1)))


def _bracket(chain: LMC, **more: Any) -> Any:
    pairs = list(combinations(chain.states, 2))
    with patch.object(work, "FEW", 0):
        return bound(chain, 1, pairs=pairs, precision=WIDTH, **more)


@contextmanager
def lent(cluster: Cluster) -> Iterator[None]:
    """Let every question find this cluster."""

    @contextmanager
    def opened(place: str) -> Iterator[Cluster]:
        assert place == "local:2"
        yield cluster

    with patch("bisimdist.distances.bound.work.opened", opened), patch("bisimdist.parallel.opened", opened):
        yield


@pytest.mark.usefixtures("small_blocks")
def test_a_bound_and_its_certificate(pair: Cluster) -> None:
    chain = random_lmc(24, successors=3, labels=2, seed=6)
    with lent(pair):
        found = _bracket(chain, cluster="local:2")
    alone = _bracket(chain)
    assert found.data() == alone.data()
    certificate = b"".join(found.compact_certificate())
    assert certificate == b"".join(alone.compact_certificate())
    assert check_certificate(certificate).valid


def test_independent_jobs(pair: Cluster) -> None:
    chain = random_lmc(6, 2, 2, 1)
    pairs = [(chain.states[s], chain.states[t]) for s, t in combinations(range(4), 2)]
    alphas = ["1", "11/10", "6/5"]
    program = explore(rappor, [(0, 0), (0, 1), (1, 0), (1, 1)], neighbours="one")
    with lent(pair):
        curve = profile(chain, pairs=pairs, alphas=alphas, gap="1/100", cluster="local:2")
        found = delta_of_each(chain, pairs, cluster="local:2", asked={"alpha": "11/10", "gap": "1/100"})
        budget = program_budget(program, cluster="local:2")
        worst = program_budget(program, "11/10", cluster="local:2")
    assert curve == profile(chain, pairs=pairs, alphas=alphas, gap="1/100")
    for bounds in found.pairs:
        (alone,) = delta(chain, "11/10", pairs=[(bounds.source, bounds.target)], gap="1/100").pairs
        assert bounds.data() == alone.data()
    with pytest.raises(UsageError, match="proof each"):
        found.certificate()
    assert budget.data() == program_budget(program).data()
    assert worst.pair == program_budget(program, "11/10").pair


def test_budgets_of_hidden_markov_mechanisms(pair: Cluster) -> None:
    families = [(noisy_max_family(4, ties="first"), "one"), (geometric_family(levels=5), "all")]
    model = noisy_max_neighbours("naive")
    with lent(pair):
        found = [mechanism_budget(*about, cluster="local:2") for about in families]
        budgets = epsilon(model, length=1, cluster="local:2")
        late = epsilon(model, length=1, cluster="local:2", deadline=Deadline.after(0))
    for budget, about in zip(found, families, strict=True):
        assert budget == mechanism_budget(*about)
        assert budget.certificate() == mechanism_budget(*about).certificate()
    assert budgets.data() == epsilon(model, length=1).data()
    assert budgets.certificate() == epsilon(model, length=1).certificate()
    for known, one in zip(late.pairs, budgets.pairs, strict=True):
        assert (known.source, known.target) == (one.source, one.target)
        assert None not in {known.at_least, one.at_least}
        assert fmpq(known.at_least or 0) <= fmpq(one.at_least or 0)


def test_models_of_a_campaign(pair: Cluster, tmp_path: Path) -> None:
    orders = Orders(11, tmp_path, KINDS, ())
    here, there = Record(11), Record(11)
    with lent(pair), Pool(examine_several, orders, cluster="local:2") as pool:
        for part in pool.map([range(3), range(3, 6)]):
            there.add(part)
    here.add(examine_several(orders, range(6), NEVER))
    assert here.counts["models"] > 3
    assert (here.counts, here.findings, here.following) == (there.counts, there.findings, there.following)


def test_jobs_that_are_late_say_what_they_know(pair: Cluster) -> None:
    jobs = [0.0, 0.1, 9.0]
    began = time.monotonic()
    assert list(pair.map(_until, None, jobs, Deadline.after(1.0))) == [True, True, False]
    with pytest.raises(LimitError):
        list(pair.map(_slowly, None, jobs, Deadline.after(0.3)))
    assert time.monotonic() - began < 9


def _until(_: None, seconds: float, deadline: Deadline) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if deadline.passed():
            return False
        time.sleep(0.01)
    return True


def _slowly(_: None, seconds: float, deadline: Deadline) -> None:
    time.sleep(min(seconds, 2.0))


def test_workers_with_another_package_are_refused() -> None:
    for found in ("0.0.9", ModuleNotFoundError("bisimdist")):
        client = SimpleNamespace(run=lambda *_, found=found, **__: {"tcp://host:1": found})
        with pytest.raises(UsageError, match="tcp://host:1 has another bisimdist"):
            expect_ourselves(client)


def test_a_scheduler_that_is_gone_is_a_limit() -> None:
    client = SimpleNamespace(status="closed")
    with pytest.raises(LimitError, match="scheduler of the cluster is gone"):
        Cluster(client).submit(len, ())


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("local", "local:0", "tcp://", "host:1"):
        with pytest.raises(UsageError, match="expected local:N or tcp://HOST:PORT"):
            checked_cluster(place)
    chain = random_lmc(6, 2, 2, 1)
    with pytest.raises(UsageError, match="no cluster answers"), patch("bisimdist.cluster.ANSWERS", 0.2):
        _bracket(chain, cluster="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'bisimdist\[cluster\]'"):
        checked_cluster("local:2")
