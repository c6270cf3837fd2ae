"""Answers as text, tables and data; the only package beside the command line that prints.

Each answer has a report for a person, the fields of its JSON object, and perhaps a page of HTML or a picture.
Numbers are exact there; where one is shortened, it is rounded in the direction in which what is said stays
true (``docs/theory/rounding.md``).
"""
