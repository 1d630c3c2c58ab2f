"""Writes the files of `pgdl ci --output`."""

import tempfile
from pathlib import Path

from harness.api.ci import ChangeResult
from harness.board import formats
from harness.errors import UserError, writing
from harness.site import replace_content, require_replaceable, verify_site, write_site

#: Folder of the site in the output.
SITE = "site"


def write_files(output: Path, ended: ChangeResult) -> list[Path]:
    """Write leaderboard, comment, report and site into an existing directory, verify the site, and return the paths.

    Earlier files are replaced after the verification. Raise `UserError` if the verification fails, or if a file cannot
    be written.
    """
    require_place(output)
    with writing(output), tempfile.TemporaryDirectory(prefix=".new-", dir=output) as temporary:
        new = Path(temporary)
        files = formats.write(ended.board, new / "leaderboard")
        for name, text in (("comment.md", ended.comment), ("report.json", ended.report.to_json())):
            (new / name).write_bytes(text.encode())
            files.append(new / name)
        write_site(ended.site, new / SITE)
        if differences := verify_site(new / SITE).differences:
            raise UserError(f"not as computed from its records: {differences[0]}", file=SITE)
        replace_content(output / SITE, new / SITE)
        return [*(file.replace(output / file.name) for file in files), output / SITE]


def require_place(output: Path) -> None:
    """Raise `UserError` if `output` is or contains a link, or if `output`/site holds anything but an earlier site.

    The job may run in the checkout of a change, which may contain links.
    """
    parents = () if output.is_absolute() else output.parents
    for path in (*reversed(parents), output, *output.glob("*")):
        if path.is_symlink():
            remedy = "remove it, or name another directory"
            raise UserError("cannot be written", file=path, expected="no symbolic link in --output", remedy=remedy)
    require_replaceable(output / SITE)
