"""`make bench-transfers`: transfers that tune themselves, against settings that stay."""
