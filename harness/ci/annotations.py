"""Annotations of files in GitHub's format, and protection against commands in other output.

GitHub reads commands from everything that a job prints. Texts of submissions are escaped in annotations. While a job
prints anything else, commands are switched off.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.printing import say

#: A line of the submission in a traceback; submissions of the competition of 2020 run in a copy, /tmp/program-X.
FRAME = re.compile(r'File "(?:/job/submission|/tmp/program-\w+)/(?P<file>[^"]+)", line (?P<line>\d{1,9})')

#: Most lines of a traceback in a report, and characters of a line: their product is below `harness.ci.report.MAX_TEXT`.
TRACEBACK_LINES, TRACEBACK_WIDTH = 8, 120

#: Maximum number of annotations of a level, such as `error`, that GitHub shows for a step.
SHOWN = 10


def annotation(level: str, text: str, file: str = "", line: int | str | None = None) -> str:
    """Return the command that annotates a line of a file. `level` is `error`, `warning` or `notice`."""
    path = _escaped(file).replace(":", "%3A").replace(",", "%2C")
    where = f" file={path}" + (f",line={line}" if line is not None else "") if file else ""
    return f"::{level}{where}::{_escaped(text)}"


def last_frame(output: str) -> tuple[str, str] | None:
    """Return file and line of the last frame in the submission's code in the tracebacks of an output; None without."""
    frames = list(FRAME.finditer(output))
    return (frames[-1]["file"], frames[-1]["line"]) if frames else None


def last_traceback(output: str) -> str:
    """Return the end of the last traceback in the output of a call, or an empty text without a traceback."""
    _, start, rest = output.rpartition("Traceback (most recent call last):")
    lines = (start + rest).splitlines()[-TRACEBACK_LINES:] if start else []
    return "\n".join(line[:TRACEBACK_WIDTH] for line in lines)


def path_in(source: str, name: str) -> str:
    """Return the path of the file `name` of a submission. For a submission in a single file or zip, return `source`."""
    return source if source.endswith((".py", ".zip")) else f"{source}/{name}"


def under_github() -> bool:
    """Return whether this process runs in a job on GitHub."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def commands_stopped(stop: bool, *, err: bool = False) -> Iterator[None]:
    """Switch GitHub's commands off within the context if `stop`. After an exception, the commands stay off.

    GitHub reads both streams: with `err`, the lines that switch are printed on standard error.
    """
    if not stop:
        yield
        return
    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}", err=err)
    yield
    say(f"::{token}::", err=err)


def add_summary(markdown: str) -> None:
    """Append Markdown to the summary of the job on GitHub; do nothing elsewhere."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(markdown)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
