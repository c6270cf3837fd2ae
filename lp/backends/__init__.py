"""Back-ends: solvers of skewed Kantorovich problems, one file each.

An exact one solves, a floating-point one proposes a basis that is then made exact; which is which is part of
its type. Each is loaded when it is asked for by name, and all pass one conformance suite.
"""
