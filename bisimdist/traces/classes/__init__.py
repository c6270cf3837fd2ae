"""Which states no observer tells apart, grouped."""
