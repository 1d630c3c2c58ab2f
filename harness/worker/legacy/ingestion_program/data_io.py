"""Functions for printing and for files from the competition's module `data_io`, which measures of 2020 used."""

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

filesep = os.sep


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"data_io.{name} is not restored: it served the competition's own program")


def swrite(text: str) -> None:
    """Write a text to standard error."""
    sys.stderr.write(text)


def write_list(lst: Iterable[str]) -> None:
    """Write each text to standard error as a line."""
    swrite("".join(f"{line}\n" for line in lst))


def print_dict(verbose: Any, dct: Mapping[Any, Any]) -> None:
    """Write keys and values to standard error if `verbose` is true."""
    if verbose:
        write_list(f"{key} = {value}" for key, value in dct.items())


def vprint(mode: Any, t: Any) -> None:
    """Print `t` if `mode` is true."""
    if mode:
        print(t)


def mkdir(d: str) -> None:
    """Make a directory if it does not exist."""
    Path(d).mkdir(parents=True, exist_ok=True)


def mvdir(source: str, dest: str) -> None:
    """Rename a directory, if it exists."""
    if Path(source).exists():
        Path(source).rename(dest)


def rmdir(d: str) -> None:
    """Remove a directory with its content, if it exists."""
    if Path(d).exists():
        shutil.rmtree(d)


def save_json(file_name: str, content: Any) -> None:
    """Write a value to a file as JSON."""
    Path(file_name).write_text(json.dumps(content, sort_keys=True, indent=4), encoding="utf-8")
