"""What every session shares: its lifecycle, request, orders, events, and the far end."""
