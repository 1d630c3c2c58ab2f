"""Tests of the directory for files that the harness can compute again."""

import os
from pathlib import Path

import pytest

from harness.cache import cache_directory, locked
from harness.errors import UserError


def test_the_user_may_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "mine"))
    assert cache_directory("staged") == tmp_path / "mine" / "staged"
    assert (tmp_path / "mine" / "staged").is_dir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGDL_CACHE", "mine")
    assert cache_directory("staged") == tmp_path / "mine" / "staged"


def test_else_it_is_where_the_user_keeps_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGDL_CACHE", "")  # which is no directory, and not the current one
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory("shapes") == tmp_path / "xdg" / "pgdl-harness" / "shapes"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory("shapes") == tmp_path / "home" / ".cache" / "pgdl-harness" / "shapes"


def test_a_user_without_a_home_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PGDL_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 54321)  # as in a container
    with pytest.raises(UserError, match="you have no home directory; set HOME or PGDL_CACHE"):
        cache_directory("shapes")


def test_a_place_that_cannot_be_used_is_the_users_to_mend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PGDL_CACHE", str(tmp_path / "file"))
    with pytest.raises(UserError, match="PGDL_CACHE"):
        cache_directory("staged")


def test_a_cache_of_another_user_is_the_users_to_replace(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be written: .*; name another cache by PGDL_CACHE"), locked(tmp_path):
        """A directory cannot be opened for writing, as a file of another user cannot."""
