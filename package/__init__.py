"""How what is handed out is built: `make package`."""
