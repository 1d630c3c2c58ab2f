"""The synthetic experiment of Werpachowski et al. (2019), section 4: linear classifiers of Gaussians."""
