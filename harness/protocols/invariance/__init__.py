"""The protocol of Schiff et al. 2021, arXiv 2106.04765: a trained network's accuracy on perturbed training data."""
