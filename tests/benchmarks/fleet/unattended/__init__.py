"""An unattended fleet, with everything that may happen to it: does it lose or mix up
anything?
"""
