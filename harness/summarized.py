"""Results that a notebook shows in a few lines: it prints the `repr` of a cell's last value."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from harness.text import counted, safe_line

MOST = 20  #: maximum number of lines


class Summarized(ABC):
    """A result whose `repr` is a few lines of text. A subclass that is a dataclass needs `repr=False`."""

    @property
    @abstractmethod
    def summary(self) -> Sequence[str]:
        """The verdict, counts and problems, one per line."""

    def __repr__(self) -> str:
        lines = [safe_line(line) for line in self.summary]
        more = len(lines) - MOST
        return "\n".join(lines[:MOST] + ([f"... and {counted(more, 'more line')}"] if more > 0 else []))
