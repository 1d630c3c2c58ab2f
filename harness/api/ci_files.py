"""The files of an evaluated change."""

from pathlib import Path

from harness.api.ci import ChangeResult
from harness.board import formats
from harness.errors import UserError, writing
from harness.reading import refuse_link
from harness.site import verify_site, write_site


def write_files(output: Path, ended: ChangeResult) -> list[Path]:
    """Write leaderboard, comment, report and site into a directory, and verify the site; raises `UserError`."""
    _refuse_links(output)
    written = formats.write(ended.board, output / "leaderboard")
    for name, text in (("comment.md", ended.comment), ("report.json", ended.report.to_json())):
        path = output / name
        with writing(path):
            path.write_bytes(text.encode())
        written.append(path)
    site = output / "site"
    write_site(ended.site, site)
    if differences := verify_site(site).differences:
        raise UserError(f"not as computed from its records: {differences[0]}", file=site)
    return [*written, site]


def _refuse_links(output: Path) -> None:
    """Raise `UserError` for a link that would lead files elsewhere: where the job runs may be a change's checkout."""
    parents = () if output.is_absolute() else output.parents
    for path in (*reversed(parents), output, *output.glob("*")):
        refuse_link(path)
