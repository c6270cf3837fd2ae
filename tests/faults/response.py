"""Randomised response, as a program to be put to the commands."""


def response(answer, rng):  # type: ignore[no-untyped-def]
    return answer if rng.randrange(4) else not answer


def constant(state):  # type: ignore[no-untyped-def]
    return "b"
