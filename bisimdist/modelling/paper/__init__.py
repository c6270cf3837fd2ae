"""The numbered statements of the five papers: where each lives, and what its command prints."""
