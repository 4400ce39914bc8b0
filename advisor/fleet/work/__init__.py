"""Workers: they take pairs that are due, have them measured, and keep what came out."""
