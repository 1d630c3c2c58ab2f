"""Derivatives of the logits or of the loss, with respect to inputs or to weights."""
