"""`advisor lab`."""
