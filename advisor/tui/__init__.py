"""The terminal interface: screens over the same session, events and store as the commands."""
