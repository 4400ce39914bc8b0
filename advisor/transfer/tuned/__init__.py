"""Transfers tuned while they run (Balaprakash et al. 2016; HARP 2018, section 4.2)."""
