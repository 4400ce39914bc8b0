"""`advisor advise`, `path` and `resume`."""
