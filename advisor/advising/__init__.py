"""Advice sessions, from the request to the advice. Screens and reports only listen to them."""
