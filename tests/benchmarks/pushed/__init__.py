"""The agent of `make agent`, brought to old systems that have nothing of it, and ended."""
