"""The built-in case studies, listed or written as model files."""
