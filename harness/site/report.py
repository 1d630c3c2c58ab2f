"""The page of one submission alone, as a single file that needs no other."""

from pathlib import Path

from harness.errors import writing
from harness.site.pages import Site, render_submission


def write_report(site: Site, number: int, file: Path) -> None:
    """Write the page of the row at this position; raises `UserError` if the file cannot be written."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(render_submission(site, number, single=True), encoding="utf-8")
