"""Writing proofs as certificates.

One writer for each kind of answer: from the witnesses that an engine returns (couplings and potentials with
ranks, relations and plays, events, layers of vectors, loops and pumps, formulae) to plain data in the
certificate format. Only what a claim rests on is written. What the checker may conclude from it is proved in
``docs/theory/certificates.md`` for distances, and in the note of each other theory.
"""
