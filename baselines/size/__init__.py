"""Counts of weights and layers, and bounds on the VC dimension that are computed from such counts.

A larger network can fit more labellings, so statistical learning theory expects a larger gap of it (Bartlett et al.
2019, arXiv 1703.02930). These measures see the architecture alone: all networks of one architecture tie, and every
tie counts against them. Among overparametrized networks wider ones often generalize better (Neyshabur et al. 2019,
arXiv 1805.12076), so that the sign is often wrong. The bounds are larger than 1 by orders of magnitude and say
nothing as bounds.
"""
