"""All output of a session as text: for people and for programs."""
