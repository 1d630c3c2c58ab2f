"""The whole curve of the training accuracy against the strength of a perturbation, in one number."""
