"""The worst trace of two states under the worst admissible scheduler."""
