"""The Python interface, for notebooks and scripts: what `import advisor` offers."""
