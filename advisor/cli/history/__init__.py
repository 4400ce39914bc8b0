"""`advisor history`."""
