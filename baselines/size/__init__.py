"""Counts of weights and layers, and bounds on the VC dimension that are computed from such counts."""
