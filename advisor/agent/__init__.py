"""The destination's side: its protocol, how it is reached, and mutual authentication."""
