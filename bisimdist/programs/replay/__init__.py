"""Programs by replay: the function runs in Python as it is, once for each way in which its draws may fall.

A scripted source of chance answers each draw (`sources`), and the search goes on with the likeliest branch
first (`tape`, `search`). A drawn double stays a range of multiples of 2^-53 until the program needs to know
more (`lazy`, `rules`). Another process repeats the runs (`guard`). Why that is exact is in
``docs/theory/programs.md``.
"""
