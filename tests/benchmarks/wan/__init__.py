"""`make bench-wan`: methods against an exhaustive sweep, on the same emulated paths."""
