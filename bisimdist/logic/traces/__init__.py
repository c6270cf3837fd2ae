"""The formulae of the trace logic that a state satisfies."""
