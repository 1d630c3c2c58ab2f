"""How the accuracy of networks responds to perturbed training data: Schiff et al. 2021, arXiv 2106.04765."""
