"""Norms and spectra of the weights, and of their changes by training."""
