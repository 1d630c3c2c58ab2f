"""A line of `pgdl doctor`."""

from typing import NamedTuple

GOOD, WARNING, BAD = "ok", "note", "MISSING"


class Finding(NamedTuple):
    """A line of `pgdl doctor`: a capability, and whether the machine has it."""

    state: str  #: GOOD, WARNING or BAD
    item: str  #: name of the capability
    found: str  #: what was found
    consequence: str = ""  #: consequence of the finding, or a remedy
