"""The probabilistic process calculus CCS_p: terms, their text, and the automata that they stand for.

After XCL14, Figure 2: prefix, choice, probabilistic choice, parallel composition, restriction, and
definitions with parameters. Terms are brought to a normal form, so that what is alike is one state. Which
laws that uses, and which operators make processes no more distant, is proved in ``docs/theory/ccs.md``.
"""
