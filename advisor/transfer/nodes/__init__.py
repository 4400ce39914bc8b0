"""A transfer over several nodes: the part of one of them, which runs at a source node."""
