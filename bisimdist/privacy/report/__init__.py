"""One page for whoever decides."""
