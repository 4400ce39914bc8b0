"""`make bench-bare`: `make run` and `make test` on systems that have next to nothing."""
