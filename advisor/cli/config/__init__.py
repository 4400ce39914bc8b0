"""`advisor config`, and the configuration file."""
