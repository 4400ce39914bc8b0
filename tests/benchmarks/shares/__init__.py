"""`make bench-shares`: shares of several destinations, planned and kept, beside the paper's."""
