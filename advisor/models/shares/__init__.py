"""Models of what each destination gets from concurrent transfers of one source.

Kettimuthu, Vardoyan, Agrawal and Sadayappan, "Modeling and optimizing large-scale wide-area data
transfers" (2014): a model per destination of its throughput DT from its own concurrency DC, the
total concurrency SC, and the external load EL.
"""
