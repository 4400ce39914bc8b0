"""`advisor transfer`, `plan` and `verify`."""
