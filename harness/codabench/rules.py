"""Rules for a bundle: the platform's own, and that nothing of a hidden task is in it.

Comments name the places in revision c7dbc756 of https://github.com/codalab/codabench.
"""

import io
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from harness.codabench.opened import Mark, Member, OpenedBundle
from harness.codabench.schema import Description
from harness.format.layout import MARKS, WEIGHTS
from harness.plain_yaml import parse_yaml
from harness.reading import open_regular
from harness.task.layout import TaskFiles

#: Formats of logos that the platform takes, and the width of its icon (src/apps/competitions/models.py:205).
LOGOS, ICON_WIDTH = ("PNG", "JPEG", "GIF"), 100

#: Most bytes of a file that is parsed, and of one in which names are searched.
MAX_BYTES, MAX_TEXT = 64 * 1024, 4 * 1024**2


def problems_of(bundle: OpenedBundle, content: Description) -> Iterator[str]:
    """Yield what is wrong with the files of a bundle, a line each."""
    missing = [path for path in content.files() if not bundle.has(path)]
    yield from (f"no file {path!r} in the bundle" for path in missing)
    if missing:
        return
    for path in (content.terms, *(page.file for page in content.pages)):  # (src/apps/competitions/unpackers/v2.py:50)
        try:
            text = bundle.read(path).decode()
        except UnicodeDecodeError:
            text = "\0"
        if not text.strip() or "\0" in text:
            yield f"{path}: expected a text in UTF-8, not empty, without NUL"
    try:
        _make_icon(bundle.read(content.image))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        yield f"{content.image}: expected a whole {', '.join(LOGOS)} for an icon: not CMYK, not flat"
    for task in content.tasks:  # (compute_worker/compute_worker.py:847)
        for path in filter(None, (task.ingestion_program, task.scoring_program)):
            with bundle.files(path) as files:
                if not _has_command(files.get("metadata.yaml") or files.get("metadata")):
                    yield f"task {task.name or task.index}: {path}: no `command` in its metadata.yaml"
    for name, file in bundle.members():
        if "/" in name and name.split("/")[-1] in MARKS and _parsed(file) != {"hidden": False}:
            yield f"{name}: marks a hidden task, and everybody can download it"


def hidden_in(bundle: OpenedBundle, names: Iterable[str], tasks: Iterable[TaskFiles]) -> Iterator[str]:
    """Yield a line for each file of a bundle that names a hidden task, or is reference data or weights of `tasks`."""
    words = re.compile(
        rb"(?<![\w-])(" + b"|".join(re.escape(name.encode()) for name in names) + rb")(?![\w-])", re.IGNORECASE
    )
    files = {_mark(path): path for task in tasks for path in _own_files(task)}
    for name, member in bundle.members():
        if member.mark in files:
            yield f"{name}: is {files[member.mark]}, of a hidden task"
        elif found := words.search(name.encode()) or words.search(_text(member)):
            yield f"{name}: names the hidden task {found[1].decode()!r}: rename the task, or use another word"


def _make_icon(content: bytes) -> None:
    with Image.open(io.BytesIO(content), formats=LOGOS) as image:
        image.resize((ICON_WIDTH, int(ICON_WIDTH / image.width * image.height))).save(io.BytesIO(), "PNG")


def _own_files(task: TaskFiles) -> Iterator[Path]:
    """Yield the reference data and weights of a task; training data, for instance, may be those of another, too."""
    yield from (model / WEIGHTS for model in task.models)
    if task.reference is not None:
        yield task.reference


def _mark(path: Path) -> Mark:
    checksum = size = 0
    with open_regular(path, links=True) as stream:
        while chunk := stream.read(1 << 20):
            checksum, size = zlib.crc32(chunk, checksum), size + len(chunk)
    return checksum, size


def _text(member: Member) -> bytes:
    """Return the content of a file that may be text; numbers, such as weights, have a NUL."""
    content = member.read(MAX_TEXT) if member.info.file_size <= MAX_TEXT else b""
    return b"" if b"\0" in content else content


def _parsed(file: Member) -> object:
    try:
        return parse_yaml(file.read(MAX_BYTES))
    except ValueError:
        return None


def _has_command(metadata: Member | None) -> bool:
    content = _parsed(metadata) if metadata else None
    return isinstance(content, dict) and bool(content.get("command"))
