"""The distance of two formulae."""
