"""For plugin authors: the contract tests of each kind, and samples to test with."""
