"""Sessions on simulated paths, in virtual time."""
