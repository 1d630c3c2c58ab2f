"""Tests of the files that a job writes: no symbolic link in a change redirects them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.api.ci import write_files
from harness.errors import UserError

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
    with pytest.raises(UserError, match=f"^{link}: cannot be read: expected a regular file, found a symbolic link"):
        write_files(Path("build/out"), ENDED)
