"""For those who write plugins: the contracts of each kind, and samples to try them on."""
