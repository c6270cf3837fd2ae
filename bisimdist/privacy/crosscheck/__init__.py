"""All bounds of the project on one pair, held against each other."""
