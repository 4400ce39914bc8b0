"""The transfer engine: moves a dataset in batches, at settings that change without a restart."""
