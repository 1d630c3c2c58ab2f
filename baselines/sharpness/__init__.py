"""How far the weights can be moved, at random or by an attack, before the network gets worse."""
