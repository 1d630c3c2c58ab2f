"""The rules for a bundle: the platform must accept pages and logo, and no file may reveal a hidden task.

Comments such as (src/apps/competitions/models.py:205) cite revision c7dbc756 of https://github.com/codalab/codabench.
"""

import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from harness.digest import digest_of_file
from harness.format.layout import WEIGHTS
from harness.reading import read_regular
from harness.task.layout import TaskFiles

#: Formats of logos that the platform accepts, and the width of its icon (src/apps/competitions/models.py:205).
LOGOS, ICON_WIDTH = ("PNG", "JPEG", "GIF"), 100

Content = bytes | Path  #: content of a member of a bundle, or the file that holds it
MAX_TEXT = 4 * 1024**2  #: maximum size of a file that is searched for names of hidden tasks, in bytes


def is_logo(content: bytes) -> bool:
    """Return whether the platform can make an icon of a picture."""
    try:
        with Image.open(io.BytesIO(content), formats=LOGOS) as image:
            image.resize((ICON_WIDTH, int(ICON_WIDTH / image.width * image.height))).save(io.BytesIO(), "PNG")
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def is_page(content: bytes) -> bool:
    """Return whether the platform accepts `content` as a page (src/apps/competitions/unpackers/v2.py:50)."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return bool(text.strip()) and "\0" not in text


def hidden_in(members: Iterable[tuple[str, Content]], tasks: Iterable[TaskFiles]) -> Iterator[str]:
    """Yield a line for each member that names a hidden task, or equals one of its files (reference data, weights).

    `members` yields the name and content of each member.
    """
    tasks = list(tasks)
    names = b"|".join(re.escape(task.name.encode()) for task in tasks)
    words = re.compile(rb"(?<![\w-])(" + names + rb")(?![\w-])", re.IGNORECASE)
    # Training data are not searched for: a public task may have the same data.
    own = [path for task in tasks for path in (*(model / WEIGHTS for model in task.models), task.reference) if path]
    files = {digest_of_file(path): path for path in own}
    for name, member in members if tasks else ():
        digest = hashlib.sha256(member).hexdigest() if isinstance(member, bytes) else digest_of_file(member)
        if digest in files:
            yield f"{name}: is {files[digest]}, of a hidden task"
        elif found := words.search(name.encode()) or words.search(_text(member)):
            yield f"{name}: names the hidden task {found[1].decode()!r}: rename the task, or use another word"


def _text(member: Content) -> bytes:
    """Return the content of a member; b"" for a large file, and for a member that is not text."""
    if isinstance(member, Path):
        if member.stat().st_size > MAX_TEXT:
            return b""
        member = read_regular(member, MAX_TEXT, links=True)
    return b"" if b"\0" in member else member
