"""Shares of made-up networks, in virtual time."""
