"""A transfer that is tuned while it runs (Balaprakash et al. 2016; HARP 2018, section 4.2)."""
