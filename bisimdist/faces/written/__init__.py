"""What all certificates share: their frame, and how numbers and polynomials are written.

Each subject writes its own proof, from the witnesses that an engine returns to plain data. Only what a
claim rests on is written. What the checker may conclude from it is proved in
``docs/theory/certificates.md`` and in the note of each theory.
"""
