"""What transfers from one source to several destinations give each of them.

Kettimuthu, Vardoyan, Agrawal and Sadayappan, "Modeling and optimizing large-scale wide-area data
transfers" (2014): a model per destination of its throughput DT from its own concurrency DC, that of
all of them together SC, and the external load EL.
"""
