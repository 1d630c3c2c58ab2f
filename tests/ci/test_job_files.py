"""Tests of the files that a job writes: no symbolic link in a change redirects them."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.api.ci import ChangeResult
from harness.api.ci_files import write_files
from harness.ci.report import ChangeReport
from harness.errors import UserError
from tests.site.site_examples import make

ENDED: Any = SimpleNamespace()  # nothing of it is asked for


@pytest.mark.parametrize("link", ["build", "build/out", "build/out/comment.md", "build/out/leaderboard.md"])
def test_a_link_is_refused_before_anything_is_written(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "job/build/out").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "job")
    place = Path(link)
    if place.is_dir():
        place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=f"^{link}: cannot be written: expected no symbolic link"):
        write_files(Path("build/out"), ENDED)


def test_a_full_disk_leaves_the_files_of_the_earlier_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def files() -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}

    site, board = make(tmp_path / "reference")
    out = tmp_path / "out"
    out.mkdir()
    written = write_files(out, ChangeResult(ChangeReport("a", "b", 2, ()), board, site))
    assert sorted(out.iterdir()) == sorted(written)
    before = files()
    assert out / "site/index.html" in before
    monkeypatch.setattr("harness.api.ci_files.write_site", full)
    with pytest.raises(UserError, match="out: cannot be written: No space left on device"):
        write_files(out, ChangeResult(ChangeReport("c", "d", 2, ()), board, site))
    assert files() == before
    monkeypatch.undo()
    write_files(out, ChangeResult(ChangeReport("c", "d", 2, ()), board, site))
    changed = {file.name for file, content in files().items() if content != before[file]}
    assert changed == {"comment.md", "report.json"}
