"""The files that `pgdl ci` writes."""

from pathlib import Path

from harness.cli import formats
from harness.cli.ci_run import Ended
from harness.errors import UserError


def write_files(output: Path, ended: Ended) -> list[Path]:
    """Write the leaderboard, the comment and its data into a directory; raises `UserError`."""
    written = formats.write(ended.board, output / "leaderboard")
    for name, text in (("comment.md", ended.comment), ("report.json", ended.report.to_json())):
        path = output / name
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot be written: {error.strerror}", file=path) from error
        written.append(path)
    return written
