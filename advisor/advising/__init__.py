"""One advice session, from the question to the advice. Screens and reports only listen to it."""
