"""Rise of the loss, or loss of accuracy, when the weights are moved at random or by an attack."""
