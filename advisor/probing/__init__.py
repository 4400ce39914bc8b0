"""The two ends of a probe, each in a child process, and the parent's side of them."""
