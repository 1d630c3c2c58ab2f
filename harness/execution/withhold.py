"""Which tasks participants must learn nothing of but what the board says."""

from enum import StrEnum

#: What stands in a record instead of a message.
WITHHELD = "withheld"


class Withhold(StrEnum):
    """The tasks whose outputs, messages and figures are withheld, and whose published scores are rounded."""

    AUTO = "auto"  #: those that are marked hidden
    ALWAYS = "always"  #: all
    NEVER = "never"  #: none: for the organiser's own eyes

    def covers(self, hidden: bool) -> bool:
        """Whether a task is withheld; `hidden` says whether it is marked."""
        return self is Withhold.ALWAYS or (self is Withhold.AUTO and hidden)
