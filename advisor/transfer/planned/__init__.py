"""Transfers planned class by class, and run as planned (HARP 2018, section 3.1)."""
