"""Prints annotations of files for GitHub, and protects against forged commands.

GitHub reads commands from everything that a job prints. Therefore submissions' texts are escaped in annotations, and
commands are switched off while a job prints anything else.
"""

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from harness.outcome import LONGEST_OUTPUT_TAIL
from harness.printing import say
from harness.text import counted

#: A line of a traceback in a submission's file. Submissions in the form of 2020 run in a copy, /tmp/program-X.
FRAME = re.compile(r'File "(?:/job/submission|/tmp/program-\w+)/(?P<file>[^"]+)", line (?P<line>\d{1,9})')

#: A frame of a traceback or stack in Python's library or an installed package.
_IN_LIBRARY = re.compile(r'  File "[^"\n]*/(?:(?:site|dist)-packages|python3\.\d+)/')

#: Maximum number of lines of a traceback in a report, and of characters of a line. Their product is below
#: `harness.ci.report.MAX_TEXT`.
TRACEBACK_LINES, TRACEBACK_WIDTH = 8, 120

#: Maximum number of annotations of the same level, such as `error`, that GitHub shows for a step of a job.
SHOWN = 10


def annotation(level: str, text: str, file: str = "", line: int | str | None = None) -> str:
    """Return the command by which GitHub shows `text` at a line of a file. `level`: `error`, `warning` or `notice`."""
    path = _escaped(file).replace(":", "%3A").replace(",", "%2C")
    where = f" file={path}" + (f",line={line}" if line is not None else "") if file else ""
    return f"::{level}{where}::{_escaped(text)}"


def last_frame(output: str) -> tuple[str, str] | None:
    """Return file and line of the last traceback entry from the submission's code; None without such an entry."""
    frames = list(FRAME.finditer(output))
    return (frames[-1]["file"], frames[-1]["line"]) if frames else None


def last_traceback(output: str) -> str:
    """Return the end of the last traceback in the recorded output of a call; "" without a traceback."""
    _, start, rest = output.rpartition("Traceback (most recent call last):")
    is_cut = len(output) >= LONGEST_OUTPUT_TAIL and FRAME.search(output) is not None  # the start is not recorded
    lines = without_libraries((start + rest).splitlines()) if start or is_cut else []
    return "\n".join(line[:TRACEBACK_WIDTH] for line in lines[-TRACEBACK_LINES:])


def without_libraries(lines: Iterable[str]) -> list[str]:
    """Return the lines of an output; consecutive traceback frames in libraries become a line that counts them."""
    shown = []
    for is_library, group in groupby(lines, lambda line: _IN_LIBRARY.match(line) is not None):
        adjacent = list(group)
        shown += [f"  ... {counted(len(adjacent), 'frame')} of libraries"] if is_library else adjacent
    return shown


def path_in(source: str, name: str) -> str:
    """Return the path of a submission's file `name`: within the folder `source`, or `source` if this is no folder."""
    return source if source.endswith((".py", ".zip")) else f"{source}/{name}"


def under_github() -> bool:
    """Return whether this process runs in a job on GitHub."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def commands_stopped(stop: bool, *, err: bool = False) -> Iterator[None]:
    """If `stop`, make GitHub ignore commands that are printed within the context.

    For this, a line is printed at the start and at the end of the context, on standard error if `err`. If the context
    raises, the line at the end is missing, and GitHub also ignores later commands.
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
