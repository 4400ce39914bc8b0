"""A fleet that nobody looks after, with everything that may happen to it: does it lose or mix up
anything?
"""
