"""What the rules of certificates are made of.

From text to numbers, shapes and models, all of which refuse what is none; then what several kinds check in
the same way: masses along words, tables with couplings, stable partitions, graphs of formulae, signs of
polynomials. Nothing here knows a kind of certificate. The proofs are in ``docs/theory/certificates.md`` and
beside it.
"""
