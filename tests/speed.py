"""How fast this machine is: what a test allows in seconds is for the machine of reference."""

from __future__ import annotations

import time

LOOP = 0.022
"""CPU seconds of 300,000 additions on the machine of reference."""

LEEWAY = 4.0
"""Machines that are shared may be so much slower for a while, caches and all, than the loop tells."""


def slowness() -> float:
    """Return how often longer than on the machine of reference a loop takes here and now, at least 1."""

    def loop() -> float:
        begun, total = time.process_time(), 0
        for number in range(300_000):
            total += number
        return time.process_time() - begun

    return max(1.0, min(loop() for _ in range(3)) / LOOP)


def leeway() -> float:
    """Return by what a limit of time is multiplied: it is there to catch growth, not a busy hour."""
    return LEEWAY * slowness()
