"""Random measures, to compare the others with."""
