"""Whether neighbours in a hidden representation have the same label."""
