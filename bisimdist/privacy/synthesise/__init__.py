"""Delta of chains with parameters: as a function, in a box, and at its best."""
