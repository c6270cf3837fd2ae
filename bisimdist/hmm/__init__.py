"""Hidden Markov models: budgets, proofs for all parameters and lengths, refutations of every budget."""
