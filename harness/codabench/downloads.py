"""Downloads one submission of each participant from the platform.

Addresses in the platform's storage are signed (utils/data.py:45), so they need no token.
"""

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from zipfile import is_zipfile

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.cache import write_whole
from harness.codabench.platform import FINISHED, Listed, OpenedPhase, Platform, by_participant
from harness.credentials import Address
from harness.digest import digest_of_file
from harness.errors import UserError, writing
from harness.fetch.remote import fetch_file
from harness.names import alike
from harness.reading import read_text
from harness.submission.name import MAX_NAME, clean, taken
from harness.text import not_a_formula, printable

TABLE, RESULTS = "submissions.csv", "results"  #: name of the table of downloaded submissions, and folder of results
MAX_OUTPUT, MAX_TABLE = 4 * 1024**3, 64 * 1024**2  #: maximum size of a downloaded file, and of the table, in bytes

#: End of the names that `names_of` makes up, also for a participant whose own name has such an end.
_DERIVED = re.compile(r"_[0-9a-f]{8}$")

MAX_FAILED = 20  #: number of consecutive failed downloads after which the command gives up


class Submitted(BaseModel):
    """A downloaded submission: a row of submissions.csv."""

    model_config = ConfigDict(frozen=True)

    name: str  #: name of the submission here; its file is NAME.zip
    participant: str
    submission: int  #: number of the submission on the platform
    written: datetime  #: time at which the file was written to the platform's storage (UTC)
    status: str  #: status on the platform
    sha256: str  #: digest of the file


class _Files(BaseModel):
    data_file: str | None
    prediction_result: str | None


def download(
    opened: OpenedPhase, end: datetime | None, directory: Path, step: Callable[[str], None], *, with_results: bool
) -> tuple[list[Submitted], list[str]]:
    """Download a submission of each participant as NAME.zip; return the submissions, and lines on problems.

    A participant's submission on the platform's board is chosen, or else the participant's last submission. Submissions
    whose files were written after `end` do not count. A file that is there already is not downloaded again. With
    `with_results`, only submissions with a score are chosen, and results/NAME.zip is downloaded, too. Raise `UserError`
    if the platform cannot be reached, refuses or fails.
    """
    listed, notes = by_participant(opened, FINISHED if with_results else None)
    with writing(directory):
        (directory / RESULTS if with_results else directory).mkdir(parents=True, exist_ok=True)
    known, failed = read_table(directory), 0
    names = names_of(listed) | {one.participant: one.name for one in known}
    here, kept = {one.submission: one for one in known}, dict[int, Submitted]()
    if opened.phase.end != end:
        notes.append(
            f"{opened.phase.name}: ends {end} in the TOML file, which counts, but {opened.phase.end} on the platform"
        )
    for number, (owner, submissions) in enumerate(listed.items(), start=1):
        step(f"participant {number} of {len(listed)}")
        for one in submissions:
            try:
                found = here.get(one.id)
                if found is None or not _is_here(found, directory, with_results=with_results):
                    found = here[one.id] = _fetch(
                        opened.platform, one, names[owner], directory, with_results=with_results
                    )
                    _write_table(directory, here.values())
            except UserError as error:
                failed += 1
                if failed in (MAX_FAILED, len(listed)):
                    raise
                notes.append(f"{names[owner]}: left out: {error}")
                break
            failed = 0
            if end is None or found.written <= end:
                kept[one.id] = found
                break
            notes.append(f"{names[owner]}: submission {one.id} is left out: its file was written after the end")
    for name in {*names.values()} - {one.name for one in kept.values()}:  # files of submissions that are left out now
        (directory / f"{name}.zip").unlink(missing_ok=True)
    _write_table(directory, kept.values())
    return list(kept.values()), notes


def read_table(directory: Path) -> list[Submitted]:
    """Return the rows of the table in a directory; [] without a table. Raise `UserError` for a damaged table."""
    file = directory / TABLE
    if not file.exists():
        return []
    lines = csv.DictReader(io.StringIO(read_text(file, MAX_TABLE)))
    try:
        if lines.fieldnames == list(Submitted.model_fields):
            return [Submitted.model_validate(line) for line in lines]
    except (csv.Error, ValidationError):
        pass
    raise UserError("not a table of submissions", file=file, remedy="remove it, and download again")


def names_of(owners: Iterable[str]) -> dict[str, str]:
    """Return participant -> name of the submission. No two names look alike, and no name looks like a measure's."""
    seen = Counter(alike(clean(owner)) for owner in owners)

    def name_of(owner: str) -> str:
        plain = clean(owner) == owner and seen[alike(owner)] == 1 and not taken(owner) and not _DERIVED.search(owner)
        return owner if plain else f"{clean(owner)[: MAX_NAME - 9]}_{hashlib.sha256(owner.encode()).hexdigest()[:8]}"

    return {owner: name_of(owner) for owner in owners}


def _is_here(one: Submitted, directory: Path, *, with_results: bool) -> bool:
    file = directory / f"{one.name}.zip"
    if with_results and not is_zipfile(directory / RESULTS / file.name):
        return False
    return file.exists() and digest_of_file(file) == one.sha256


def _fetch(platform: Platform, one: Listed, name: str, directory: Path, *, with_results: bool) -> Submitted:
    path = f"submissions/{one.id}/get_details/"  # (api/views/submissions.py:474)
    files = platform.get(path, _Files)
    file = directory / f"{name}.zip"
    written = _fetch_file(platform, files.data_file, file, platform.url_of(path))
    if with_results:
        _fetch_file(platform, files.prediction_result, directory / RESULTS / file.name, platform.url_of(path))
    return Submitted(
        name=name,
        participant=one.owner,
        submission=one.id,
        written=written,
        status=one.status,
        sha256=digest_of_file(file),
    )


def _fetch_file(platform: Platform, named: str | None, place: Path, asked: Address) -> datetime:
    if named is None:
        raise UserError("the platform has no such file", file=asked, expected=place.name)
    platform.require_encryption(named)
    url = Address(named.replace("@", "%40"), str(asked))
    moved = "the platform's storage has lost it; ask who runs the platform"
    written = fetch_file(url, place, most=MAX_OUTPUT, moved=moved)
    if not is_zipfile(place):
        place.unlink()
        raise UserError("not a zip archive", file=asked, expected=place.name)
    if written is None:
        raise UserError("the storage does not say when the file was written", file=asked, expected="Last-Modified")
    return written


def _write_table(directory: Path, submissions: Iterable[Submitted]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Submitted.model_fields)
    for one in submissions:
        writer.writerow([not_a_formula(printable(str(value))) for value in one.model_dump(mode="json").values()])
    file = directory / TABLE
    with writing(file):
        write_whole(file, text.getvalue().encode())
