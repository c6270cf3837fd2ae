"""Logics: trace logic, full logic, mimicking formulae, and the distances of formulae.

After CCP18: formulae of traces with probabilities and their semantics (the traces themselves are the
business of ``bisimdist.traces.engine``); the Hennessy-Milner logic with
distributions, a model checker, mimicking and distinguishing formulae as graphs, and the distance of two
formulae, whose limit is a bisimilarity metric. Why it is right: ``docs/theory/trace-logic.md``,
``docs/theory/trace-metric.md`` and ``docs/theory/logic.md``.
"""
