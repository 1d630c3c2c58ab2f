"""Names for the needs and costs of measures and for forms of weights; the error of a measure that lacks an input."""

from enum import StrEnum


class MeasureUnavailable(Exception):
    """The model or the data lack something that the measure needs, such as the initial weights."""


class Need(StrEnum):
    """An input of a measure beyond the trained weights."""

    DATA = "data"  #: training examples, in forward passes
    CLASSES = "a logit for each class"
    LABELS = "labels"  #: implies a logit for each class
    GRADIENTS = "gradients"
    INITIAL_WEIGHTS = "initial weights"
    QUANTITIES = "inputs that are quantities"  #: numbers that can be mixed and shifted, such as pixels; no tokens


class Cost(StrEnum):
    """Cost of a measure: how many passes over training examples it makes; the cheapest first."""

    WEIGHTS = "weights"  #: no passes: reads the weights and the architecture
    FORWARD = "forward"  #: up to three forward passes
    GRADIENTS = "gradients"  #: up to one forward and backward pass for each class
    MANY = "many"  #: more passes: curves, searches, chains, second derivatives


class Form(StrEnum):
    """Form of the weights that a measure reads: the two differ in networks with normalization."""

    TRAINED = "as trained"  #: normalization is a layer; its scales and shifts are parameters like kernels and biases
    FOLDED = "folded"  #: normalization is folded into kernels and biases, which are the parameters
