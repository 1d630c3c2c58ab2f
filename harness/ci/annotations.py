"""Annotations of files in GitHub's format, and a shield against commands in other output.

GitHub reads commands from all that a job prints. Texts of submissions are escaped in annotations, and while
anything else is printed, commands are switched off.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.printing import say

#: A line of the submission in a traceback; code of 2020 runs in a copy.
FRAME = re.compile(r'File "(?:/job/submission|/tmp/program-\w+)/(?P<file>[^"]+)", line (?P<line>\d{1,9})')

#: Lines of a traceback that a report keeps, and their length: fewer characters than `harness.ci.report.MAX_TEXT`.
TRACEBACK_LINES, TRACEBACK_WIDTH = 8, 120

#: GitHub shows ten annotations of each kind for a step.
SHOWN = 10


def annotation(level: str, text: str, file: str = "", line: int | str | None = None) -> str:
    """Return the command for one annotation; `level` is `error`, `warning` or `notice`."""
    place = f" file={_property(file)}" + (f",line={line}" if line is not None else "") if file else ""
    return f"::{level}{place}::{_text(text)}"


def last_frame(output: str) -> tuple[str, str] | None:
    """Return file and line of the submission in the last traceback of its output."""
    frames = list(FRAME.finditer(output))
    return (frames[-1]["file"], frames[-1]["line"]) if frames else None


def last_traceback(output: str) -> str:
    """Return the end of the last traceback in the output of a call; empty if there is none."""
    _, start, rest = output.rpartition("Traceback (most recent call last):")
    lines = (start + rest).splitlines()[-TRACEBACK_LINES:] if start else []
    return "\n".join(line[:TRACEBACK_WIDTH] for line in lines)


def path_in(source: str, name: str) -> str:
    """Return the path of a file of a submission; a submission that is a single file or zip has only its own path."""
    return source if source.endswith((".py", ".zip")) else f"{source}/{name}"


def under_github() -> bool:
    """Whether this is a step of a job on GitHub."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def commands_stopped(stop: bool, *, err: bool = False) -> Iterator[None]:
    """Switch GitHub's commands off for the context; after an error they stay off, for its message.

    GitHub reads both streams of a step, so the commands may go to standard error.
    """
    if not stop:
        yield
        return
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}", err=err)
    yield
    say(f"::{token}::", err=err)


def add_summary(markdown: str) -> None:
    """Append Markdown to the summary of the job, if there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(markdown)


def _text(text: str) -> str:
    """Escape text: otherwise a message could be a command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
