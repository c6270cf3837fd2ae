"""Budgets for sequences of every length."""
