"""Moves a dataset by pieces: settings change while it runs, and nothing is restarted."""
