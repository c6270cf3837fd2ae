"""Models as files: shown, converted, learned, and the built-in case studies.

These commands work with models alone and prove nothing: a summary or a picture, the same behaviour as a
model of another kind, a chain of intervals learned from runs with confidence, and the examples.
"""
