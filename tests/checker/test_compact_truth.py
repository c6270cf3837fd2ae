"""Certificates with compact tables that are nearly true: what the rules accept is accepted, and true.

``python -m tests.checker.test_compact_truth SEED SECONDS`` goes on for longer, and counts.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

from flint import fmpq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bisimdist import bound
from bisimdist.checker import check_certificate
from bisimdist.models.lmc import LMC
from tests.checker.brute import ONE, Pair, Tiny
from tests.checker.compact_reference import Compact
from tests.checker.packed import merging

ALPHAS = [Fraction(text) for text in ("1", "21/20", "5/4", "3/2", "2")]
LONG = (2**61 - 1, 2**89 - 1, 2**107 - 1)
"""Denominators that have no short one in common."""


CHANGES = 10
About = tuple[Tiny, dict[Pair, Fraction], dict[str, str]]
"""A chain, its distances, and which states stand for others."""


def drawn_model(source: random.Random, *, alpha: Fraction, ordered: bool) -> Tiny:
    """Draw a chain: with few labels, small weights and so many ties, or with long denominators."""
    size, kinds = source.randint(3, 6), source.randint(1, 3)
    names = [f"s{k}" for k in range(size)]
    labels = {s: "abc"[source.randrange(kinds) if source.random() < 0.6 else 0] for s in names}
    forward, long = source.random() < 0.4, source.random() < 0.15
    rows = {}
    for k, s in enumerate(names):
        targets = (names[k + 1 :] or [s]) if forward else names
        chosen = source.sample(targets, min(len(targets), source.randint(1, 5)))
        weights = [source.randint(1, 3) for _ in chosen]
        row = {t: Fraction(w, sum(weights)) for t, w in zip(chosen, weights, strict=True)}
        if long and len(chosen) > 1:
            little = Fraction(1, source.choice(LONG))
            row[chosen[0]] -= little
            row[chosen[1]] += little
        rows[s] = row
    return Tiny(labels, rows, alpha, ordered)


def truth(tiny: Tiny) -> dict[Pair, Fraction]:
    """Return the distances of all pairs of one label, from a certificate in JSON."""
    states = tiny.states
    rows = tuple(
        tuple((k, fmpq(row[t].numerator, row[t].denominator)) for k, t in enumerate(states) if t in row)
        for row in (tiny.rows[s] for s in states)
    )
    model = LMC(tuple(states), tuple(tiny.labels[s] for s in states), rows)
    pairs = [(s, t) for s, t in combinations(states, 2) if tiny.labels[s] == tiny.labels[t]]
    if not pairs:
        return {}
    alpha = fmpq(tiny.alpha.numerator, tiny.alpha.denominator)
    answer = bound(model, alpha, distance="lbd" if tiny.ordered else "bd", pairs=pairs)
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid
    return {(claim.source, claim.target): claim.upper for claim in report.claims if claim.exact}


def drawn_tables(tiny: Tiny, exact: dict[Pair, Fraction], source: random.Random) -> Compact:
    """Draw tables near the truth, or anywhere, let them settle, and change something or nothing."""
    said = Compact(tiny, source.choice((4, 12, 60, 100, 1000, 10**6)))
    if source.random() < 0.4:  # all exact
        for number in exact.values():
            if (said.one * number.denominator).bit_length() < 60:
                said.one *= number.denominator // Fraction(said.one, number.denominator).denominator or 1
    above, below = source.choice("tnn"), source.choice("tnrrh")
    for pair in said.pairs:
        if source.random() < 0.1 or pair not in exact:
            continue
        number = exact[pair] * said.one
        noise = source.randint(0, 2) if source.random() < 0.5 else source.randint(0, said.one // 4)
        said.upper[pair] = min(said.one, -(-number // 1) + (noise if above == "n" else 0))
        low = {"t": number // 1, "n": number // 1 - noise, "r": source.randint(0, said.one), "h": said.one}
        said.lower[pair] = max(0, int(low[below]))
    said.settle(source, ranked=source.random() < 0.5)
    return said


def change(said: Compact, source: random.Random) -> None:
    """Lower an upper bound, raise a lower bound, or change bases or ranks."""
    pair = source.choice(list(said.upper))
    record = said.records[pair]
    step = 1 if source.random() < 0.7 else source.randint(1, 1 + said.one // 3)
    what = source.randrange(5)
    if what == 0:
        said.upper[pair] = max(0, said.upper[pair] - step)
        said.lower[pair] = min(said.lower[pair], said.upper[pair])
    elif what == 1:
        said.lower[pair] = min(said.upper[pair], said.lower[pair] + step)
    elif what == 2:
        for other in said.upper:
            said.lower[other] = min(said.upper[other], said.lower[other] + (said.lower[other] > 0) * step)
    elif what == 3:
        record.bases = [said.drawn(way, source) for way in said.ways(pair)]
        record.turned = said.both and source.random() < 0.5
    elif record.rank:
        record.rank = source.randint(1, 4)
        record.stuck = source.randint(1, len(said.nodes(said.ways(pair)[record.turned])))
    said.sound_own(pair)


def doubled(tiny: Tiny, source: random.Random) -> tuple[Tiny, dict[str, str]]:
    """Put copies of some states beside them, to be merged again; some of what led to these leads there."""
    stands = {f"{s}~": s for s in tiny.states if source.random() < 0.4}
    names = [*tiny.states]
    for copy in stands:
        names.insert(source.randint(0, len(names)), copy)
    rows = {}
    for s in names:
        row = dict(tiny.rows[stands.get(s, s)])
        for copy, t in stands.items():
            if t in row:
                row[copy] = row[t] * source.randint(0, 4) / 4
                row[t] -= row[copy]
        rows[s] = {t: p for t, p in row.items() if p}
    return Tiny({s: tiny.labels[stands.get(s, s)] for s in names}, rows, tiny.alpha, tiny.ordered), stands


def judge(said: Compact, about: About, source: random.Random) -> str:
    """Return what the checker says, and whether it is true; the rules have to say the same."""
    chain, exact, stands = about
    claims = [(s, t) for s, t in permutations(chain.states, 2)]
    head: dict[str, object] = merging(chain.model(), stands) if stands else {}
    if not chain.ordered and source.random() < 0.5:
        head["claims"] = "all"
    content = said.content(chain, claims, head)
    report = check_certificate(content)
    true = True
    for claim in report.claims:
        s, t = claim.source, claim.target
        known = ONE if chain.block[s] != chain.block[t] else exact.get((s, t), exact.get((t, s)))
        if known is not None and claim.lower is not None:
            true &= claim.lower <= known <= claim.upper
    verdict = f"{'accepted' if report.valid else 'refused'}, {'true' if true else 'false'}"
    assert report.valid == said.accepted(), (report.reason, said)
    assert not report.valid or true, said
    return verdict


def drawn(source: random.Random, count: int) -> Counter[str]:
    """Draw a model, and certificates about it."""
    alpha, ordered = source.choice(ALPHAS), source.random() < 0.3
    tiny = drawn_model(source, alpha=alpha, ordered=ordered)
    exact = truth(tiny)
    about: About = (tiny, exact, {})
    found: Counter[str] = Counter()
    if alpha == 1 and source.random() < 0.5:
        chain, stands = doubled(tiny, source)
        about = chain, truth(chain), stands
    kind = f"{'lbd' if ordered else 'bd'} {'at' if alpha == 1 else 'above'} 1"
    if about[2]:
        kind += ", merged"
    for _ in range(count):
        said = drawn_tables(tiny, exact, source)
        found[f"{kind}: {judge(said, about, source)}"] += 1
        for _ in range(CHANGES if said.upper else 0):
            changed = said.copy()
            change(changed, source)
            found[f"{kind}, changed: {judge(changed, about, source)}"] += 1
    return found


@given(st.randoms())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_the_rules_accept_is_accepted_and_true(source: random.Random) -> None:
    drawn(source, 3)


def main() -> None:
    """Draw for some seconds, and count."""
    source, end = random.Random(int(sys.argv[1])), time.monotonic() + float(sys.argv[2])
    found: Counter[str] = Counter()
    while time.monotonic() < end:
        found += drawn(source, 10)
    for name, count in sorted(found.items()):
        sys.stdout.write(f"{name}: {count}\n")


if __name__ == "__main__":
    main()
