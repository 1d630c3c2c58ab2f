"""What a measure looks at beyond the trained weights."""

from enum import StrEnum


class Need(StrEnum):
    """What a measure looks at beyond the trained weights."""

    DATA = "data"  #: training examples, in forward passes
    CLASSES = "a logit for each class"
    LABELS = "labels"  #: and with them a logit for each class
    GRADIENTS = "gradients"
    INITIAL_WEIGHTS = "initial weights"
    QUANTITIES = "inputs that are quantities"  #: which can be mixed, moved, and be differentiated by; tokens cannot
