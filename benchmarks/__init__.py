"""Benchmarks: ``python -m benchmarks`` prints the tables that README.md explains."""
