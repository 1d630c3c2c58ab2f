"""Robustness to noise, pruning and rounding of the weights, and bounds from compression."""
