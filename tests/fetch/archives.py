"""Small archives in the competition's layout, and catalogues that name them."""

import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from in_process import Ended

from tests.throwaway import make_task

#: Types of the fixtures `fetch` and `refusal`.
Fetch, Refusal = Callable[..., Ended], Callable[..., str]

#: The folder of the tasks, below that of a test.
TASKS = Path("tasks")

#: Where the content of the archive of `far` begins: beyond what 32 bits can tell.
FAR = 2**32 + 12_345

CATALOGUE = """
name = "small"
title = "A corpus"
licence = "none"
citation = "nobody"

[[archives]]
phase = "first"
url = "{url}/data.zip"
bytes = 1_000_000
{more}
"""

TASK = """
[[archives.tasks]]
name = "{name}"
"""


def content(directory: Path) -> dict[str, bytes]:
    """Return path -> content of the tasks' files, without the records of their origin."""
    return {name: data for name, data in files_of(directory) if not name.endswith("fetched.json")}


def files_of(directory: Path) -> Iterable[tuple[str, bytes]]:
    """Yield path and content of all files below a directory."""
    for file in sorted(directory.rglob("*")):
        if file.is_file():
            yield str(file.relative_to(directory)), file.read_bytes()


def make_archive(
    target: Path, tasks: Iterable[str] = ("tiny",), *, prefix: str = "", begin: int = 0, force_zip64: bool = False,
    others: int = 0, more: Callable[[zipfile.ZipFile], None] = lambda _: None, **task: object,
) -> Path:  # fmt: skip
    """Write an archive of tasks with leftovers of a file browser; every second file of the tasks is compressed.

    `prefix` begins the names of all members; `begin` is the position of the first member, behind a hole; `force_zip64`
    writes all sizes with 64 bits; `others` is the number of further members of no task; `more` adds members.
    """
    made = target.parent / "made"
    for seed, name in enumerate(tasks):
        make_task(made, name=name, layout="full", seed=seed, **task)  # type: ignore[arg-type]
    with target.open("wb") as file:
        file.seek(begin)
        with zipfile.ZipFile(file, "w") as archive:
            for number, (name, content) in enumerate(files_of(made)):
                entry = zipfile.ZipInfo(prefix + name)
                entry.compress_type = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
                with archive.open(entry, "w", force_zip64=force_zip64) as stream:
                    stream.write(content)
                archive.writestr(f"__MACOSX/{prefix}{name}", b"left over")
            for number in range(others):
                archive.writestr(f"other/{number}", b"")
            more(archive)
    return target


def catalogue(directory: Path, url: str, tasks: Iterable[str] = ("tiny",), *, more: str = "", task: str = "") -> Path:
    """Write a catalogue of a single archive; `more` are further lines of the archive, `task` of each task."""
    text = CATALOGUE.format(url=url, more=more) + "".join(TASK.format(name=name) + task for name in tasks)
    file = directory / "catalogues" / "small.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file
