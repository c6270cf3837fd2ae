"""Chains learned from runs, with confidence."""
