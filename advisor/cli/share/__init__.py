"""`advisor share`."""
