"""Margins of the logits, margins over norms of the weights, and distances from the decision boundary."""
