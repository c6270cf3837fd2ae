"""Which states satisfy a formula."""
