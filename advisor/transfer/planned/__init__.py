"""Plans a transfer class by class, and runs the plan (HARP 2018, section 3.1)."""
