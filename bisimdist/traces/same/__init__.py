"""Two models in one answer: are they equivalent, and if not, how far apart are they."""
