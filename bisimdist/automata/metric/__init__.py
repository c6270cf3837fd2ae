"""The accumulative and the amortised bisimulation metric."""
