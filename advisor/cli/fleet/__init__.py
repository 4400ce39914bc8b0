"""`advisor fleet`."""
