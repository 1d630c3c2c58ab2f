"""Boards and scores say when the calls that they show were made on machines of several classes."""

from dataclasses import replace
from pathlib import Path

import pytest
from in_process import Pgdl, Record

from tests.board.board_examples import rows, write_reference

LINE = "calls were made on machines that differ, and values may in their last digits: 2 x A; 8 x B, NVIDIA H100"


@pytest.mark.parametrize("command", [["board"], ["score", "margin"]])
@pytest.mark.parametrize(
    ("classes", "is_said"),
    [
        (["8 x B, NVIDIA H100", "2 x A", "2 x A"], True),
        (["2 x A"], False),
        (["2 x A", None], False),  # the second record has no class
    ],
)
def test_it_is_said_where_they_do(
    classes: list[str | None], is_said: bool, command: list[str], pgdl: Pgdl, folder: Path, record: Record
) -> None:
    write_reference(folder / "task_data")
    kinds = [{} if kind is None else {"machine_class": kind} for kind in classes]
    record([replace(row, environment=kinds[n % len(kinds)]) for n, row in enumerate(rows("margin"))])
    ended = pgdl(*command)
    assert ended.code == 0
    assert (LINE in " ".join((ended.out + ended.err).split())) == is_said
    assert ("machines that differ" in ended.out + ended.err) == is_said
