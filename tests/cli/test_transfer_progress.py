"""The progress of a download: bytes, rate and time left, on a terminal as a bar, elsewhere as a line a minute."""

import io

import pytest
from rich.console import Console

from harness.cli import transfer
from harness.cli.transfer import Transfer


def shown(monkeypatch: pytest.MonkeyPatch, *, total: int) -> str:
    """What is printed of 120 seconds in which a million bytes arrive in each."""
    clock = iter(range(1000))
    monkeypatch.setattr(transfer.time, "monotonic", lambda: float(next(clock)))
    console = Console(file=io.StringIO(), width=120)
    with Transfer(console) as watcher:
        watcher.begin("fetching", total)
        for _ in range(120):
            watcher.seen(1_000_000)
        watcher.note("a note")
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_line_a_minute_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, total=300_000_000).splitlines() == [
        "fetching: 300.0 MB",
        "fetching: 60.0 MB of 300.0 MB, 1.0 MB/s, about 4 min left",
        "fetching: 120.0 MB of 300.0 MB, 1.0 MB/s, about 3 min left",
        "a note",
    ]


def test_a_size_that_is_not_known_has_no_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "fetching: 60.0 MB, 1.0 MB/s" in shown(monkeypatch, total=0).splitlines()


def test_a_bar_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with Transfer(console) as watcher:
        watcher.begin("fetching", 4_000_000)
        watcher.seen(1_000_000)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "fetching" in text
    assert "1.0/4.0 MB" in text
