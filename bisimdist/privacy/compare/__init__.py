"""Delta and all distances of a pair, side by side."""
