"""Tuned transfers in virtual time, over a bottleneck that they share with competing flows."""
