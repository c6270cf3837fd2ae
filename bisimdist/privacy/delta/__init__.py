"""The true delta of a pair of states, from both sides."""
