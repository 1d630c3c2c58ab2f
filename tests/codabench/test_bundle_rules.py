"""`pgdl codabench validate` names what the platform would refuse, and what would give secrets away."""

import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_plain_yaml import MERGES
from tests.zip_bombs import overlapping

Content = dict[str, Any]


def changed(
    bundle: Path, target: Path, change: Callable[[Content], Any], extra: dict[str, bytes] | None = None
) -> Path:
    """Write a copy of a bundle with another description, and other files."""
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(target, "w") as new:
        content = yaml.safe_load(old.read("competition.yaml"))
        change(content)
        for name in old.namelist():
            if name != "competition.yaml" and name not in (extra or {}):
                new.writestr(name, old.read(name))
        for name, data in ({"competition.yaml": yaml.safe_dump(content).encode()} | (extra or {})).items():
            new.writestr(name, data)
    return target


def phase(content: Content, number: int = 0, **changes: Any) -> None:
    content["phases"][number] |= changes


def column(content: Content, number: int = 0, **changes: Any) -> None:
    content["leaderboards"][0]["columns"][number] |= changes


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content.update(version=3), "version: expected '2', found '3'"),
        (lambda content: content.pop("title"), "title: expected a value, found none"),
        (lambda content: content.update(image="none.png"), "no file 'none.png' in the bundle"),
        (lambda content: content.update(contact_email="me at home"), "contact_email: expected text of the pattern"),
        (lambda content: content.update(queue="mine"), "queue: expected UUID"),
        (lambda content: content["tasks"][0].pop("scoring_program"), "task Feedback: scoring_program: expected a file"),
        (lambda content: content["tasks"][0].update(index=1), "tasks: expected another index for each"),
        (lambda content: content["tasks"][0].update(input_data="x.zip"), "no file 'x.zip' in the bundle"),
        (
            lambda content: content["tasks"][0].update(scoring_program="starting_kit.zip"),
            "task Feedback: starting_kit.zip: no `command` in its metadata.yaml",
        ),
        (lambda content: phase(content, tasks=[7]), "tasks of a phase or solution: expected their indexes, found 7"),
        (lambda content: phase(content, max_submissions=2**31), "phases.0.max_submissions: expected less than"),
        (lambda content: phase(content, end="2026-01-01 00:00:00"), "phase Feedback: end: expected a time after its"),
        (lambda content: phase(content, end="2028-01-01 00:00:00"), "phase Final: start: expected a time after the"),
        (lambda content: content["phases"][0].pop("end"), "phase Feedback: end: expected a time, because Final"),
        (lambda content: phase(content, end="2/28/2028 12:00"), "phase Final: start: expected a time after the end of"),
        (lambda content: phase(content, end=datetime(2027, 2, 28, 12)), "phases.0.end: expected a time in quotes: of"),
        (lambda content: phase(content, start="soon"), "phases.0.start: expected a time such as '2027-01-31"),
        (lambda content: phase(content, auto_migrate_to_this_phase=True), "to_this_phase: expected no first phase"),
        (lambda content: column(content, key="score"), "columns: expected another key for each"),
        (lambda content: column(content, computation="avg"), "both of computation and computation_indexes, or none"),
        (lambda content: content.update(tasks=[{"index": n, "key": "k"} for n in range(300)]), "expected at most 200"),
    ],
)  # fmt: skip
def test_each_problem_is_named_in_one_line(bundled, tmp_path, monkeypatch, capsys, change, said):
    from in_process import in_process

    pgdl = in_process(monkeypatch, capsys)
    bundle = changed(bundled / "bundle.zip", tmp_path / "changed.zip", change)
    checked = pgdl("codabench", "validate", bundle)
    lines = [line for line in checked.out.splitlines() if said in line]
    assert checked.code == 2, checked
    assert lines, checked.out


@pytest.mark.parametrize(
    ("name", "mark", "is_hidden"),
    [
        ("metadata", "hidden: true", True), ("metadata.yaml", "{hidden: true}", True), ("metadata", "hidden: [", True),
        ("metadata.yml", "#" + "x" * 70_000, True), ("metadata", "# no\nhidden: no\n", False),
    ],
    ids=range(5),
)  # fmt: skip
def test_a_task_with_any_mark_but_that_of_a_public_one_is_hidden(bundled, folder, pgdl, name, mark, is_hidden):
    public = "phase_0_reference_data.zip"
    with zipfile.ZipFile(bundled / "bundle.zip") as whole:
        Path("new.zip").write_bytes(whole.read(public))
    with zipfile.ZipFile("new.zip", "a") as new:
        new.writestr(f"reference_data/tiny/{name}", mark)
    added = {public: Path("new.zip").read_bytes()}
    bundle = changed(bundled / "bundle.zip", folder / "changed.zip", lambda _: None, added)
    said = f"phase_0_reference_data.zip: reference_data/tiny/{name}: marks a hidden task, and everybody can download it"
    assert (said in pgdl("codabench", "validate", bundle).out) == is_hidden


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("starting_kit.zip", "starting_kit.zip: task/weights.hdf5: is "),
        ("phase_0_input_data.zip", "of a hidden task"),
    ],
)  # fmt: skip
def test_files_of_hidden_tasks_are_found_under_any_name(bundled, folder, pgdl, place, said):
    weights = next(bundled.rglob("secret/model_0/weights.hdf5"))
    with zipfile.ZipFile("new.zip", "w") as new:
        new.write(weights, "task/weights.hdf5")
    added = {place: Path("new.zip").read_bytes()}
    bundle = changed(bundled / "bundle.zip", folder / "changed.zip", lambda _: None, added)
    ended = pgdl("codabench", "validate", bundle, "--competition", bundled / "competition.toml")
    assert (ended.code, said in ended.out) == (2, True), ended.out


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"x/competition.yaml": b"version: 2"}, "expected it beside the other files, found it in a folder"),
        ({"readme.md": b""}, "no competition.yaml at the top"),
        ({"competition.yaml": b"- a"}, "expected keys and values, found list"),
        ({"competition.yaml": b"{"}, "expected YAML"),
        ({"competition.yaml": MERGES.encode()}, "expected YAML, found an anchor or alias"),
        ({"competition.yaml": b"#" * 2**20 + b"\nversion: 2"}, "expected at most 1048576 bytes"),
    ],
    ids=["folder", "none", "list", "broken", "merges", "large"],
)
def test_what_is_no_bundle_is_refused_in_one_line(folder, pgdl, members, said):
    with zipfile.ZipFile("x.zip", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    checked = pgdl("codabench", "validate", "x.zip")
    assert checked.code == 2
    assert said in checked.err
    assert len(checked.err.splitlines()) == 1


@pytest.mark.parametrize(("bombs", "files"), [(1, 55), (12, 1)], ids=["in one archive", "in several archives"])
def test_archives_in_a_bundle_that_unpack_to_too_much_are_refused(bundled, folder, pgdl, bombs, files):
    content = overlapping(folder / "bomb.zip", files).read_bytes()
    more = {f"bomb_{number}.zip": content for number in range(bombs)}
    bundle = changed(bundled / "bundle.zip", folder / "changed.zip", lambda _: None, more)
    refused = pgdl("codabench", "validate", bundle)
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "changed.zip: members together: expected at most 100 times the archive's size" in refused.err


def test_a_packed_archive_in_a_bundle_is_read_as_one_that_is_not(bundled, folder, pgdl):
    public = "phase_0_reference_data.zip"
    with zipfile.ZipFile(bundled / "bundle.zip") as whole, zipfile.ZipFile("new.zip", "w") as new:
        for name in whole.namelist():
            new.writestr(name, whole.read(name), zipfile.ZIP_DEFLATED)
        assert public in whole.namelist()
    stored, packed = (pgdl("codabench", "validate", bundle) for bundle in (bundled / "bundle.zip", "new.zip"))
    assert (packed.code, packed.out) == (stored.code, stored.out.replace(str(bundled / "bundle.zip"), "new.zip"))
