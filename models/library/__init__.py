"""Built-in case studies, one file each, and the registry that finds them by name.

Most are examples of the papers, and their docstrings say which; where a distance, delta or budget is known in
closed form it stands there, and a test compares. ``docs/papers.md`` lists them by paper and number.
"""
