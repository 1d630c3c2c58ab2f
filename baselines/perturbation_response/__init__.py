"""Statistics of the curve of training accuracy against the strength of a perturbation."""
