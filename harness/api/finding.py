"""A finding of `pgdl doctor`."""

from typing import NamedTuple

GOOD, WARNING, BAD = "ok", "note", "MISSING"


class Finding(NamedTuple):
    """A capability of a machine, or a capability that the machine lacks."""

    state: str  #: GOOD, WARNING or BAD
    item: str
    found: str
    consequence: str = ""  #: or the remedy
