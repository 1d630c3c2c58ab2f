"""A statistical test of whether a model has been fitted to its test set: Werpachowski et al. 2019, arXiv 1903.02380."""
