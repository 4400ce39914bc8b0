"""The commands. Standard output is data, standard error is narration."""
