"""Hidden Markov models: budgets, proofs for all parameters and lengths, refutations of every budget.

A Pufferfish or differential privacy budget (LWZ22) bounds the ratio of the probabilities of each sequence of
observations. Here it is decided for all values of parameters by Bernstein coefficients, for all lengths by
invariants, sampled, and asked of Z3 as a second way; the search at a length and refutations are in
``bisimdist.traces.engine``. Why it is right: ``docs/theory/hmm.md`` and ``docs/theory/hmm-proofs.md``.
"""
