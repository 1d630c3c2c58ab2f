"""The page of one submission alone, as a single file that needs no other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import writing
from harness.site.pages import render_report


def write_report(page: Mapping[str, Any], file: Path) -> None:
    """Write a page of `submission_page`; raises `UserError` if the file cannot be written."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(render_report(page).encode())
