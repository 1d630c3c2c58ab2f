"""The main function of the process that reads a submission and writes the answer to standard output."""

import os
from collections.abc import Callable

from harness.inspector.answer import MAX_PROBLEM, READY, Answer, write_answer
from harness.inspector.files import Files, SubmissionError, UnreadableError, check_names, only_folder
from harness.inspector.keys import FILE_NAMES
from harness.inspector.limits import MEMORY_BYTES, bound_process


def main(kind: str, path: str) -> None:
    """Read the submission at `path`, and write the answer. `kind` is `file`, `folder` or `zip`."""
    bound_process()
    if kind == "zip":
        from harness.inspector.archive import read_zip as read
    elif kind == "folder":
        from harness.inspector.folder import read_folder as read
    else:
        from harness.inspector.folder import read_file as read
    with os.fdopen(1, "wb") as stream:
        stream.write(READY)
        stream.flush()
        write_answer(inspect(read, path), stream)


def inspect(read: Callable[[str, Files], None], path: str) -> Answer:
    """Return the answer about the submission at `path`, even if its content is malformed."""
    files = Files()
    try:
        read(path, files)
        check_names(files.contents)
        folder = only_folder(files.contents)
        contents = {name.removeprefix(f"{folder}/"): content for name, content in files.contents.items()}
    except UnreadableError as error:
        return Answer({}, {}, unreadable=(error.file, error.reason))
    except Exception as error:
        return Answer({}, {}, problem=_describe(error))
    metadata: dict[str, str] = {}
    unknown: tuple[str, ...] = ()
    try:
        if any(name in contents for name in FILE_NAMES):
            from harness.inspector.metadata import read_metadata  # here: importing YAML is slow

            metadata, unknown = read_metadata(contents)
    except Exception as error:
        return Answer(contents, {}, problem=_describe(error), folder=folder)
    return Answer(contents, metadata, unknown_keys=unknown, folder=folder)


def _describe(error: Exception) -> str:
    """Return an error as a printable line, which cannot control a terminal."""
    if isinstance(error, SubmissionError):
        text = str(error)
    elif isinstance(error, MemoryError):
        text = f"cannot be read within {MEMORY_BYTES // 1024**2} MiB of memory"
    else:
        text = f"cannot be read: {type(error).__name__}: {error}"
    return "".join(character if character.isprintable() else "?" for character in text)[:MAX_PROBLEM]
