"""Profiles: the measurements of a connection over a declared grid, kept as an artefact."""
