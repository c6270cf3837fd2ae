"""Back-ends: solvers of skewed Kantorovich problems, one file each."""
