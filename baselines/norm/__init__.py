"""How large the weights are, or how far training moved them from their initial values."""
