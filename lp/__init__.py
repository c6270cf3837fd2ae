"""Linear programs of the skewed Kantorovich lifting, solved exactly.

The lifting of CMP18 (Definition 10) for one block of states, with potentials and couplings as witnesses of
its value: a transportation kernel in integers, an exact simplex for what needs detours, and back-ends that
may propose. Beside it the multiplicative lifting of CCP18 (Definition 14) as a transport with gains, and
flows. Of use on their own. Why it is right: ``docs/theory/lifting.md``, ``docs/theory/transportation.md`` and
``docs/theory/multiplicative-transportation.md``.
"""
