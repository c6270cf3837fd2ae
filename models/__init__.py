"""Models: labelled Markov chains, probabilistic automata, and what is done to them."""
