"""`make bench-bare`: `make run` and `make test` on minimal systems."""
