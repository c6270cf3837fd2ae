"""The least budget that holds at a length."""
