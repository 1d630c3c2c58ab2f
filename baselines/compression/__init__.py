"""How much noise, pruning or rounding the network bears."""
