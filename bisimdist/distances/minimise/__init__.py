"""Smaller chains that are nearly the same, with a proof of how nearly."""
