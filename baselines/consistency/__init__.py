"""Whether classes are tight and apart inside the network, and whether harmless changes leave its answers alone."""
