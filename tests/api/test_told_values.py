"""Values that come with a Python function are told before anything runs."""

from typing import Any

from kept_notes import Notes

from harness.api.submissions import find

SCALE, NAME = 3.0, "a text"


def scaled(model: Any, dataset: Any) -> float:
    return SCALE * len(NAME)


def test_values_are_told_as_soon_as_a_function_is_read() -> None:
    notes = Notes()
    find(scaled, ["another name"], notes)
    assert notes.lines == ["another name takes along: NAME = 'a text', SCALE = 3.0"]
