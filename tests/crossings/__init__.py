"""Every question asked with every feature: answered rightly, or refused with a line that says why."""
