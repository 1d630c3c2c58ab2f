"""How the seconds of `--time-limit` add up."""

from enum import StrEnum


class TimeBudget(StrEnum):
    """What the seconds of `--time-limit` bind."""

    EACH = "each"  #: every call
    AVERAGE = "average"  #: the sum over a task's models, as in the competition: seconds times models
