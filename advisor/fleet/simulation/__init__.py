"""A fleet at work in virtual time, with the planning code that real workers use. Pure."""
