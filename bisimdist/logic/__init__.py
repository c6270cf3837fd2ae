"""Logics: trace logic, full logic, mimicking formulae, and the distances of formulae.

After CCP18: formulae of traces with probabilities, their semantics, trace equivalence (decided modulo primes,
then exactly) and the trace metric with its loops, pumps and tables of factors; the Hennessy-Milner logic with
distributions, a model checker, mimicking and distinguishing formulae as graphs, and the distance of two
formulae, whose limit is a bisimilarity metric. Why it is right: ``docs/theory/trace-logic.md``,
``docs/theory/trace-metric.md`` and ``docs/theory/logic.md``.
"""
