"""Tests of a stranger's site with any content: its verification ends within bounds, and prints only plain lines."""

import math
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from in_process import Pgdl

from harness.errors import UserError
from harness.site import SiteData, verify_site, write_site
from harness.site.files import RECORDS, SETTINGS
from harness.site.verify import MAX_MESSAGE
from tests.site.test_verified_site import forged, rewrite, with_record

ESCAPES = "x\x1b]0;title\x07\x1b[2J\x1b[31mVerified: 99 files\x9b0m"

BIG = 10**400


def refusal(site: Path) -> str:
    with pytest.raises(UserError) as error:
        verify_site(site)
    return str(error.value)


def test_a_site_that_is_replaced_moves_nothing_from_behind_a_link(data: SiteData, site: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "folder").mkdir(parents=True)
    (own / "folder/file").write_text("mine")
    shutil.rmtree(site / "submissions")
    (site / "data/records.jsonl").unlink()
    for name in (".new", "data/records.jsonl", "submissions"):
        (site / name).symlink_to(own)
    write_site(data, site)
    assert [file.relative_to(own).as_posix() for file in sorted(own.rglob("*"))] == ["folder", "folder/file"]
    assert not verify_site(site).differences


TASK = {"withheld": False, "n_models": 8, "n_test": 100}
SETTINGS_OF_NOBODY: list[dict[str, Any]] = [
    {"title": BIG}, {"title": "\ud800"}, {"remarks": [BIG]}, {"remarks": ["\ud800"]}, {ESCAPES: 1},
    *({"tasks": {"toy": TASK | change}} for change in ({"n_models": BIG}, {"n_test": 2**63})),
    *({"tasks": {name: TASK}} for name in ("../toy", "", 300 * "x", "a\0b", ESCAPES)),
]  # fmt: skip
RECORDS_OF_NOBODY: list[dict[str, Any]] = [
    {"value": BIG}, {"seed": BIG}, {"peak_memory_bytes": BIG}, {"peak_memory_bytes": 2**63}, {"call_wall_s": BIG},
    {"call_wall_s": 1e308}, {"submission": ESCAPES}, {"message": "\ud800"}, {"key": "x" * 2 * 10**6},
]  # fmt: skip


@pytest.mark.parametrize("change", SETTINGS_OF_NOBODY + RECORDS_OF_NOBODY)
def test_settings_and_records_that_nobody_writes(data: SiteData, tmp_path: Path, change: dict[str, Any]) -> None:
    if change in RECORDS_OF_NOBODY:
        line = refusal(with_record(change, data, tmp_path / "site"))
    else:
        line = refusal(forged(lambda settings: settings.update(change), data, tmp_path / "site"))
    assert line.isprintable()
    assert len(line) < 600


@pytest.mark.parametrize("value", [BIG, math.inf, math.nan, "\ud800"])
def test_hyperparameters_that_nobody_writes(data: SiteData, tmp_path: Path, value: object) -> None:
    def change(entries: dict[str, Any]) -> None:
        for entry in entries.values():
            next(iter(entry["hparams"].values()))["possible_values"].append(value)

    file = "data/reference_data/toy/model_configs.json"
    line = refusal(forged(change, data, tmp_path / "site", file))
    assert file in line
    assert line.isprintable()


@pytest.mark.parametrize("line", [ESCAPES, "[" * 10**5, '{"record": {}, "digest": "' + ESCAPES + '"}'])
def test_a_record_that_is_none_cannot_control_a_terminal(site: Path, pgdl: Pgdl, line: str) -> None:
    (site / RECORDS).write_text(f"{line}\n")
    ended = pgdl("verify", site)
    assert ended.code == 2
    assert ended.err.startswith(f"pgdl: {site / RECORDS}: line 1")
    assert ended.err.rstrip("\n").isprintable()


def test_data_are_bounded_and_behind_no_link(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = (site / RECORDS).read_bytes()
    (site / RECORDS).write_bytes(records + b"{}\n")
    assert "too many records: expected at most 80 records" in refusal(site)
    (site / RECORDS).write_bytes(records)
    with monkeypatch.context() as patch:
        patch.setattr("harness.site.chain.MAX_RECORDS", 1000)
        assert "too many records: expected at most 80 records and 1000 bytes" in refusal(site)
    os.truncate(site / SETTINGS, 200 * 10**9)
    assert f"{SETTINGS}: too large: expected at most 33554432 bytes" in refusal(site)
    (site / "data").rename(site.parent / "elsewhere")
    (site / "data").symlink_to(site.parent / "elsewhere")
    assert "a symbolic link" in refusal(site)


def test_a_million_digits_are_compared_as_one_number(site: Path) -> None:
    """A search that tries every digit as the beginning of a number would take hours."""
    values = site / "values.js"
    values.write_text("1" * (2 * values.stat().st_size))
    assert any(line.startswith("values.js: line 1: ") for line in verify_site(site).differences)


def test_lines_are_bounded_in_number_and_length(site: Path, pgdl: Pgdl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.site.verify.MAX_DIFFERENCES", 10)
    for number in range(20):
        (site / f"{number}{ESCAPES.replace('/', '')}").touch()
    rewrite(site / "leaderboard.json", '"submission": "', '"submission": "' + "long" * 500)
    lines = pgdl("verify", site).lines
    assert len(lines) == 10
    assert all(line.isprintable() and len(line) <= MAX_MESSAGE for line in lines)
