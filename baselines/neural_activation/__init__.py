"""How the slope of a network's activations over depth varies with the entropy of the input."""
