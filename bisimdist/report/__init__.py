"""Answers as text, tables and data; the only package beside the command line that prints."""
