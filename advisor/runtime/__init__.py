"""What every session shares: the request, the connection to the far end, orders while it runs."""
