"""A wide-area testbed on one machine: hosts that are network namespaces, and paths between them."""
