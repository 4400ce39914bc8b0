"""Sessions that move files: the engine, and the planned, tuned and shared transfers on it."""
