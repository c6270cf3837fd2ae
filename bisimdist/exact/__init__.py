"""Exact numbers: reading and writing rationals, logarithms, certified decimals, directed bounds."""
