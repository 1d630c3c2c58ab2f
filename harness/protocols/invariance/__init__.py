"""The invariance of networks to perturbations: Schiff et al. 2021, arXiv 2106.04765."""
