"""`make bench-transfers`: tuned transfers compared with fixed settings."""
