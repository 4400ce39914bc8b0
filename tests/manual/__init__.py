"""Pages of the manual that are made from the program: `python -m tests.manual` writes them."""
