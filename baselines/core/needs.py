"""Needs, costs and forms of weights of measures, and the error of a measure whose inputs are missing."""

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
    QUANTITIES = "inputs that are quantities"  #: can be mixed, shifted and differentiated with respect to; no tokens


class Cost(StrEnum):
    """Amount of work of a measure, by its passes over its sample of training examples; the cheapest first."""

    WEIGHTS = "weights"  #: no passes: reads the weights and the architecture
    FORWARD = "forward"  #: up to three forward passes
    GRADIENTS = "gradients"  #: up to one forward and backward pass for each class
    MANY = "many"  #: more passes: curves, searches, chains, second derivatives


class Form(StrEnum):
    """Form in which a measure reads a network with normalization."""

    TRAINED = "as trained"  #: normalization is a layer; its scales and shifts are parameters like kernels and biases
    FOLDED = "folded"  #: normalization is folded into kernels and biases, which are the parameters
