"""Random measures, to compare the others with.

`random` depends on the weights as bytes and on the seed of the call, or on its own with `seed=1`. Its score is what
chance gives on a task: a measure that does not beat it has shown nothing. With few models chance scores high at
times, so look at several seeds. The noisy oracle beside a board is computed from the gaps themselves: it is the
other extreme, and no measure.
"""
