"""d_X-privacy and weak anonymity of a set of secrets."""
