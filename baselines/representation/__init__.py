"""The shape of hidden representations: collapse, dimension, and how units go together."""
