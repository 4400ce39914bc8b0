"""`advisor profile`: measures, shows, compares and exchanges profiles."""
