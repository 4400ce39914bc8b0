"""`fleet.toml`: decoded, checked, and turned into a Fleet."""
