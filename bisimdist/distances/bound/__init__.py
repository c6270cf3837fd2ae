"""A bisimilarity distance of a pair of states: the question, the answer, its proof."""
