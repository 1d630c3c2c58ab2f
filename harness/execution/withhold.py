"""Selects the tasks about which participants may learn nothing but the board's scores."""

from enum import StrEnum

#: The text that replaces a message in a record.
WITHHELD = "withheld"


class Withhold(StrEnum):
    """The tasks whose outputs, messages and figures are withheld, and whose published scores are rounded."""

    AUTO = "auto"  #: tasks marked as hidden
    ALWAYS = "always"  #: all tasks
    NEVER = "never"  #: no task: for the organiser's eyes only

    def covers(self, hidden: bool) -> bool:
        """Return whether a task is withheld; `hidden` says whether it is marked as hidden."""
        return self is Withhold.ALWAYS or (self is Withhold.AUTO and hidden)
