"""The protocol of Werpachowski et al. 2019, arXiv 1903.02380: a test of whether models were fitted to a test set."""
