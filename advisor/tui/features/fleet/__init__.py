"""A fleet: how its pairs stand, and what became of each."""
