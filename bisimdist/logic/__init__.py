"""Logics: trace logic, full logic, mimicking formulae, and the distances of formulae."""
