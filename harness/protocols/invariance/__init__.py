"""The protocol of Schiff et al. 2021, arXiv 2106.04765: how perturbed training data change a network's accuracy."""
