"""Transfers over several nodes: their coordinator, and the queue of lots in the database."""
