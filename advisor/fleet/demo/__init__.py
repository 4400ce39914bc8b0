"""A fleet on one machine: a lab, a database and workers, for as long as somebody looks at it."""
