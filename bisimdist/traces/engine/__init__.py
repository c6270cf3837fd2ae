"""Words and how probable they are: what an observer sees of a run, one symbol after the other.

A chain, an automaton without choices and a hidden Markov model without parameters are one thing here: states,
symbols, and for each symbol w a matrix M_w of probabilities, so that the probability of a word from a state
is the mass that is left after the product of its matrices. `system` makes it of automata, in integers over
common denominators, bisimilar states merged and futures that are combinations of others found
(`combination`); `numeric` and `integers` of hidden Markov models. Ends of runs are settled before, by
`bisimdist.models.ends`.

On this stand the largest quotient of two probabilities of a word (`ratio`: the graph of beliefs, its longest
paths, tables of factors where it does not close, pumps and drifts where there is no bound), the largest
difference (`difference`), whether all are equal (`equivalence`: Schützenberger 1961, Tzeng 1992), budgets of
words of a length by signed information states (`search`, `layers`), and refutations of every budget
(`refutation`). After CCP18 (Section 3) and LWZ22; the proofs are in ``docs/theory/trace-metric.md``,
``docs/theory/trace-logic.md``, ``docs/theory/hmm.md`` and ``docs/theory/hmm-proofs.md``.
"""
