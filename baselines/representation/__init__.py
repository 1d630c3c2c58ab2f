"""Geometry of hidden representations: collapse, dimension, spectrum, and correlations of units."""
