"""One source, many destinations: shares that are learned, planned, and kept while files move."""
