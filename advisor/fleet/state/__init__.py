"""What the database knows of a fleet: configuration, pauses, workers, attempts, pairs."""
