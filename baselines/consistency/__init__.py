"""Separation of the classes inside the network, and stability of predictions under harmless changes of the input."""
