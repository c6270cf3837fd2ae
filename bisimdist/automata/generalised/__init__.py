"""Generalised bisimilarity metrics: any lifting, discounted or not."""
