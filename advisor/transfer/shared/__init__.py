"""One source, several destinations: shares are learned, planned, and kept while files move."""
