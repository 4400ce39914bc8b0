"""Whether advice comes true: random paths, and what a shell then reaches with the advised line."""
