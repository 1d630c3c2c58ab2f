"""`pgdl codabench validate` names what the platform would refuse, and what would give secrets away."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.codabench.rules import RULES
from tests.test_plain_yaml import MERGES

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
        (lambda content: content.update(version=3), "version: expected 2, found 3"),
        (lambda content: (content.pop("version"), content.pop("pages")), "version: expected 2, found 1"),
        (lambda content: content.pop("title"), "no title"),
        (lambda content: content.update(title="x" * 300), "title: expected at most 256 characters"),
        (lambda content: content.pop("terms"), "no terms"),
        (lambda content: content.update(image="none.png"), "image: no file 'none.png' in the bundle"),
        (lambda content: content.update(pages=[]), "pages: expected a list, each element with keys"),
        (lambda content: content.pop("phases"), "no phases"),
        (lambda content: content["tasks"][0].pop("scoring_program"), "task Feedback: no scoring_program"),
        (lambda content: content["tasks"][0].update(index=1), "another task has index 1"),
        (lambda content: content["tasks"][0].update(input_data="x.zip"), "input_data: no file 'x.zip' in the bundle"),
        (lambda content: phase(content, tasks=[]), "phase Feedback: no tasks"),
        (lambda content: phase(content, tasks=[7]), "phase Feedback: no task with index 7"),
        (lambda content: phase(content, end="2026-01-01 00:00:00"), "phase Feedback: it ends before it starts"),
        (lambda content: phase(content, end="2028-01-01 00:00:00"), "phase Final: it starts before phase Feedback has"),
        (lambda content: content["phases"][0].pop("end"), "phase Feedback: no end, but phase Final follows"),
        (lambda content: phase(content, end="2/28/2028 12:00"), "phase Final: it starts before phase Feedback has"),
        (lambda content: phase(content, start="soon"), "phase Feedback: expected dates such as"),
        (lambda content: phase(content, auto_migrate_to_this_phase=True), "to_this_phase: not in the first"),
        (lambda content: phase(content, 1, tasks={"a": 1}), "phase Final: no task with index a"),
        (lambda content: phase(content, 1, index="one"), "a value of another kind than expected"),
        (lambda content: column(content, key="score"), "columns: expected another key for each"),
        (lambda content: column(content, title="x" * 40), "title of a column: expected a text of at most 36"),
        (lambda content: column(content, computation="avg"), "one of computation and computation_indexes without"),
        (lambda content: content["leaderboards"][0].update(submission_rule="Best"), "submission_rule: expected one of"),
        (lambda content: content["solutions"][0].pop("tasks"), "solution 0: no tasks"),
        (lambda content: content["tasks"][0].update(ingestion_only_during_scoring=True), "mounts reference data"),
        (lambda content: content.update(make_programs_available=True), "make_programs_available: the programs contain"),
        (lambda content: content.pop("queue"), "no queue: hidden tasks need workers of your own"),
        (lambda content: phase(content, 1, hide_output=False), "phase Final: hide_output: expected true"),
        (
            lambda content: phase(content, public_data="phase_1_reference_data.zip"),
            "reference_data/secret/model_configs.json is also the hidden reference data of secret",
        ),
        (
            lambda content: content["tasks"][0].update(input_data="phase_0_reference_data.zip"),
            "reference_data/tiny/model_configs.json is reference data",
        ),
        (
            lambda content: phase(content, starting_kit="phase_1_ingestion_program.zip"),
            "is also the key of the competition",
        ),
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


def test_lists_are_not_longer_than_anybody_needs(bundled, folder, pgdl):
    tasks = [{"index": number} for number in range(300)]
    bundle = changed(bundled / "bundle.zip", folder / "changed.zip", lambda content: content.update(tasks=tasks))
    assert "tasks: expected at most 200 elements" in pgdl("codabench", "validate", bundle).out


@pytest.mark.parametrize("name", ["metadata", "metadata.yaml"])
@pytest.mark.parametrize(
    ("mark", "is_hidden"),
    [
        ("hidden: true", True), ("hidden:   yes # secret", True), ("{hidden: true}", True), ("hidden: [", True),
        ("#" + "x" * 70_000, True), ("hidden: false", False), ("# no\nhidden: no\n", False),
    ],
    ids=range(7),
)  # fmt: skip
def test_a_task_with_any_mark_but_that_of_a_public_one_is_hidden(bundled, folder, pgdl, name, mark, is_hidden):
    public = "phase_0_reference_data.zip"
    with zipfile.ZipFile(bundled / "bundle.zip") as whole:
        Path("new.zip").write_bytes(whole.read(public))
    with zipfile.ZipFile("new.zip", "a") as new:
        new.writestr(f"reference_data/tiny/{name}", mark)
    added = {public: Path("new.zip").read_bytes()}
    bundle = changed(bundled / "bundle.zip", folder / "changed.zip", lambda _: None, added)
    said = "phase Feedback: hide_output: expected true, because its tasks are hidden"
    assert (said in pgdl("codabench", "validate", bundle).out) == is_hidden


def test_a_date_that_loses_its_hours_is_named(bundled, folder, pgdl):
    with zipfile.ZipFile(bundled / "bundle.zip") as archive:
        text = archive.read("competition.yaml").decode()
    unquoted = text.replace("'2027-02-28 12:00:00'", "2027-02-28 12:00:00").encode()
    bundle = changed(bundled / "bundle.zip", folder / "changed.zip", lambda _: None, {"competition.yaml": unquoted})
    assert (
        "phase Feedback: end: put it in quotes, or the platform forgets the hours"
        in pgdl("codabench", "validate", bundle).out
    )


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


def test_a_damaged_archive_is_refused(folder, pgdl):
    Path("x.zip").write_bytes(b"PK\x03\x04 but no more")
    assert "x.zip: damaged: expected a whole zip archive" in pgdl("codabench", "validate", "x.zip").err


def test_every_rule_has_a_place_in_the_sources():
    import harness.codabench.validation  # noqa: F401 - registers all rules

    assert len(RULES) > 10
    assert all(rule.place.startswith(("src/", "compute_worker/", "docs/")) for rule in RULES)
