"""What measures need (inputs, passes, weights), and the error of a measure that lacks an input."""

from enum import StrEnum


class MeasureUnavailable(Exception):
    """Model or data lack something that the measure needs, such as the initial weights."""


class Need(StrEnum):
    """An input of a measure in addition to the trained weights."""

    DATA = "data"  #: training examples for forward passes
    CLASSES = "a logit for each class"
    LABELS = "labels"  #: labels, and a logit for each class
    GRADIENTS = "gradients"
    INITIAL_WEIGHTS = "initial weights"
    QUANTITIES = "inputs that are quantities"  #: numbers that can be mixed and shifted, such as pixels, but not tokens


class Cost(StrEnum):
    """How many passes over training examples a measure makes, from the cheapest to the most expensive."""

    WEIGHTS = "weights"  #: none: only reads weights and architecture
    FORWARD = "forward"  #: up to three forward passes
    GRADIENTS = "gradients"  #: up to one forward and backward pass for each class
    MANY = "many"  #: more passes: curves, searches, chains, second derivatives


class Form(StrEnum):
    """The form in which a measure reads the weights. Both are equal without normalization, constants and PReLU."""

    TRAINED = "as trained"  #: normalization is a layer, whose scales and shifts are parameters, too
    FOLDED = "folded"  #: normalization is folded into kernels and biases, which are all parameters
