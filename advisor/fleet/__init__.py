"""Many hosts: which of their pairs to measure when, and what has changed on them."""
