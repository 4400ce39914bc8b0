"""`advisor help`: the manual in the terminal."""
