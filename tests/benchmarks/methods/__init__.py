"""`make bench-methods`: how good the search methods are on tables that others recorded."""
