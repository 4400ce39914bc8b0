"""The screens of a fleet."""
