"""`make bench-disk`: advice from disk to disk, its line copied into a shell, and a sweep."""
