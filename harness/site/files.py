"""The files of a site's data.

* `data/site.json`: versions, tasks, submissions, withheld results, remarks.
* `data/reference_data/TASK/model_configs.json`: as in the competition, but only what a score needs.
* `data/records.jsonl`: the chain of records; its first link follows the digest of all other files.
"""

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.digest import digest_of
from harness.errors import UserError
from harness.format.files import MAX_JSON, parse_json
from harness.format.layout import REFERENCE, REFERENCES
from harness.format.reference import Reference, parse_reference, reference_entry
from harness.reading import open_below, read_below
from harness.shell import is_version
from harness.site.bounds import require_plain
from harness.site.chain import head_of, read_lines, to_lines
from harness.site.data import SiteData, SiteRecord, SiteSettings, find_stray
from harness.validation import first_problem

DATA = "data"
SETTINGS, RECORDS = f"{DATA}/site.json", f"{DATA}/records.jsonl"

#: Packages that decide the bytes of a site.
MAKERS = ("pgdl-harness",)


def to_files(data: SiteData) -> tuple[dict[str, bytes], str]:
    """Return the files of the data, and the last digest of the chain."""
    files = {SETTINGS: _json({"made_with": _made_with(), **data.settings.model_dump(mode="json")})}
    for task, reference in data.references.items():
        files[f"{DATA}/{REFERENCES}/{task}/{REFERENCE}"] = _json(_entries(reference))
    start = _start(files)
    lines = list(to_lines((record.model_dump() for record in data.records), start))
    files[RECORDS] = "".join(lines).encode()
    return files, head_of(lines, start)


def read_files(site: Path) -> SiteData:
    """Read the data of a site.

    Raises `UserError` if a file is missing, malformed, too large or a link, if the site was made with other versions,
    or if a record is not the one that the chain has.
    """
    files = {SETTINGS: read_below(site, SETTINGS, MAX_JSON)}
    content = parse_json(files[SETTINGS], site / SETTINGS)
    _require_versions(content.pop("made_with", None), site / SETTINGS)
    require_plain(content, site / SETTINGS)
    try:
        settings = SiteSettings.model_validate(content)
        references = {}
        for task in (name for name, facts in settings.tasks.items() if not facts.withheld):
            name = _reference_file(task, site)
            files[name] = read_below(site, name, MAX_JSON)
            references[task] = _reference(files[name], site / name)
        most = len(settings.submissions) * sum(len(reference.models) for reference in references.values())
        with open_below(site, RECORDS) as stream:
            lines = read_lines(stream, site / RECORDS, _start(files), most)
            records = [SiteRecord.model_validate(record) for record in lines]
    except ValidationError as error:
        first = first_problem(error)
        what = f"{error.title}: {first.key}"
        raise UserError(what, file=site / DATA, expected=first.expected, found=first.found) from error
    data = SiteData(settings, references, records)
    repeated = {(r.task, r.model) for facts in settings.submissions for r in facts.repeats}
    if any(task not in references or model not in references[task].gaps for task, model in repeated):
        raise UserError("repetitions", file=site / SETTINGS, expected="models of the site's tasks", found="others")
    if (stray := find_stray(data)) is not None:
        where = f"{stray.submission}, {stray.task}, {stray.model}"
        raise UserError(f"a record ({where})", file=site / RECORDS, expected="one record per call of the board")
    return data


def _reference_file(task: str, site: Path) -> str:
    """Return the name of a task's reference data in a site; raises `UserError` if the task could not be a directory."""
    if task in ("", ".", "..") or not task.isprintable() or Path(task).name != task:
        raise UserError("name of a task", file=site / SETTINGS, expected="the name of a directory", found=repr(task))
    return f"{DATA}/{REFERENCES}/{task}/{REFERENCE}"


def _reference(content: bytes, file: Path) -> Reference:
    entries = parse_json(content, file)
    require_plain(entries, file)
    return parse_reference(entries, file)


def _made_with() -> dict[str, str]:
    return {name: metadata.version(name) for name in MAKERS}


def _require_versions(made: Any, file: Path) -> None:
    here = _made_with()
    if made != here:
        found = " and ".join(f"{name} {version}" for name, version in here.items())
        given = made if isinstance(made, dict) else {}
        wanted = {name: str(given.get(name)) for name in here if given.get(name) != here[name]}
        known = all(map(is_version, wanted.values()))
        versions = " ".join(f"{name}=={version}" for name, version in wanted.items()) if known else "they are malformed"
        remedy = f"install the versions that made it: {versions}"
        raise UserError("made with other versions", file=file, found=found, remedy=remedy)


def _start(files: Mapping[str, bytes]) -> str:
    return digest_of(sorted(files.items()))


def _entries(reference: Reference) -> dict[str, Any]:
    grid = reference.grid
    possible = {name: list(values) for name, values in grid.values.items()}
    entries = {}
    for model, codes in zip(reference.models, grid.codes.tolist(), strict=True):
        current = {name: possible[name][code] for name, code in zip(grid.names, codes, strict=True)}
        metrics = {"train_acc": reference.train_accuracy[model], "test_acc": reference.test_accuracy[model]}
        entries[model] = reference_entry(possible, current, metrics)
    return entries


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()
