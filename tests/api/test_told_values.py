"""Values that come with a Python function are told before anything runs."""

from typing import Any

from harness.api.submissions import find
from pgdl import Progress

SCALE, NAME = 3.0, "a text"


class Notes(Progress):
    """Keeps the notes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


def scaled(model: Any, dataset: Any) -> float:
    return SCALE * len(NAME)


def test_values_are_told_as_soon_as_a_function_is_read() -> None:
    notes = Notes()
    find(scaled, ["another name"], notes)
    assert notes.lines == ["another name takes along: NAME = 'a text', SCALE = 3.0"]
