"""Rise of the loss, or drop of accuracy, when the weights are moved at random or by an attack."""
