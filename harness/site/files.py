"""Writes and reads the files of a site's data.

* `data/site.json`: `SiteSettings`, and the version of this program.
* `data/reference_data/TASK/model_configs.json`: as in the competition, without metrics that scores do not use.
* `data/records.jsonl`: the chain of records; its first digest covers all the files above.
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
from harness.site.chain import read_chain, require_plain, to_chain
from harness.site.data import SiteData, SiteRecord, SiteSettings, find_stray
from harness.validation import first_problem

DATA = "data"
SETTINGS, RECORDS = f"{DATA}/site.json", f"{DATA}/records.jsonl"

#: The package that makes sites. Another version may make other bytes.
MAKER = "pgdl-harness"


def to_files(data: SiteData) -> tuple[dict[str, bytes], str]:
    """Return path -> content of the data files, and the last digest of the chain of records."""
    files = {SETTINGS: _json({"made_with": {MAKER: metadata.version(MAKER)}, **data.settings.model_dump(mode="json")})}
    for task, reference in data.references.items():
        files[f"{DATA}/{REFERENCES}/{task}/{REFERENCE}"] = _json(_entries(reference))
    chain, head = to_chain((record.model_dump() for record in data.records), _start(files))
    return files | {RECORDS: chain}, head


def read_files(site: Path) -> SiteData:
    """Return the data of a site.

    Raise `UserError` if a file is missing, malformed, too large or a link, if another version of this program made the
    site, or if a record has a wrong digest.
    """
    files = {SETTINGS: read_below(site, SETTINGS, MAX_JSON)}
    content = parse_json(files[SETTINGS], site / SETTINGS)
    _require_version(content.pop("made_with", None), site / SETTINGS)
    require_plain(content, site / SETTINGS)
    try:
        settings = SiteSettings.model_validate(content)
        references = {}
        for task in (name for name, facts in settings.tasks.items() if not facts.withheld):
            name = _reference_file(task, site)
            files[name] = read_below(site, name, MAX_JSON)
            entries = parse_json(files[name], site / name)
            require_plain(entries, site / name)
            references[task] = parse_reference(entries, site / name)
        most = len(settings.submissions) * sum(len(reference.models) for reference in references.values())
        with open_below(site, RECORDS) as stream:
            chain = read_chain(stream, site / RECORDS, _start(files), most)
            records = [SiteRecord.model_validate(record) for record in chain]
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
        raise UserError(
            f"a record ({where})", file=site / RECORDS, expected="one record per call of the board, in its sandbox"
        )
    return data


def _reference_file(task: str, site: Path) -> str:
    if task in ("", ".", "..") or not task.isprintable() or Path(task).name != task:
        raise UserError("name of a task", file=site / SETTINGS, expected="the name of a directory", found=repr(task))
    return f"{DATA}/{REFERENCES}/{task}/{REFERENCE}"


def _require_version(made: Any, file: Path) -> None:
    here = metadata.version(MAKER)
    if made != {MAKER: here}:
        given = str(made.get(MAKER)) if isinstance(made, dict) else ""
        remedy = f"install {MAKER}=={given}" if is_version(given) else f"its version of {MAKER} is malformed"
        raise UserError("made with another version", file=file, found=f"{MAKER} {here} here", remedy=remedy)


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
