"""Needs, costs and forms of weights of measures, and the error of a measure without its inputs."""

from enum import StrEnum


class MeasureUnavailable(Exception):
    """The model or the data lack something that the measure needs, such as the initial weights."""


class Need(StrEnum):
    """What a measure looks at beyond the trained weights."""

    DATA = "data"  #: training examples, in forward passes
    CLASSES = "a logit for each class"
    LABELS = "labels"  #: and with them a logit for each class
    GRADIENTS = "gradients"
    INITIAL_WEIGHTS = "initial weights"
    QUANTITIES = "inputs that are quantities"  #: which can be mixed, moved, and be differentiated by; tokens cannot


class Cost(StrEnum):
    """How much work a measure is, by its passes over the training examples that it looks at; the cheapest first."""

    WEIGHTS = "weights"  #: none: it reads the weights and the architecture
    FORWARD = "forward"  #: up to three forward passes
    GRADIENTS = "gradients"  #: up to one forward and backward pass for each class
    MANY = "many"  #: more than that: curves, searches, chains, second derivatives


class Form(StrEnum):
    """How a measure sees a network with normalization."""

    TRAINED = "as trained"  #: normalization is a layer; its scales and shifts are parameters like kernels and biases
    FOLDED = "folded"  #: normalization is in the kernels and biases, which are the parameters
