"""The trace metric, by ratio or by difference."""
