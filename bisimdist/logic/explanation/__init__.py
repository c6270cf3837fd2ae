"""Why two states are bisimilar, or which formula tells them apart."""
