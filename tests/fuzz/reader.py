"""What is known of a reader of strangers' files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UserError


@dataclass(frozen=True)
class Reader:
    """What reads files of a stranger.

    Attributes:
        make: writes a sample into an empty directory.
        read: reads what has become of it.
        changed: pattern of the files that are changed.
        errors: what may come out besides a result.
    """

    make: Callable[[Path], object]
    read: Callable[[Path], object]
    changed: str = "*"
    errors: tuple[type[Exception], ...] = (UserError,)
