"""Writes the bundle of a competition."""

import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from harness.codabench import description
from harness.codabench.archives import Content, write_archive
from harness.codabench.competition import Competition, read_competition
from harness.codabench.description import INGESTION, INPUT, REFERENCE, SCORING, archive_of, describe
from harness.codabench.kit import solution, starting_kit
from harness.codabench.phases import PlannedPhase, plan_phases
from harness.codabench.seal import competition_of, draw_key, read_key, write_key
from harness.codabench.settings import COMMAND, KEY, SETTINGS, TASKS, inputs_of, references_of
from harness.errors import UserError, writing
from harness.format.files import located
from harness.reading import read_regular

#: Most bytes of a page or logo.
MAX_PAGE = 64 * 1024**2

#: Formats of logos that the platform takes.
LOGOS = ("PNG", "JPEG", "GIF")

#: The commands that the platform runs, with the directories that it mounts.
COMMANDS = {
    INGESTION: "pgdl codabench ingest /app/program /app/input_data /app/ingested_program /app/output",
    SCORING: "pgdl codabench score /app/program /app/input/ref /app/input/res /app/output",
}


@dataclass(frozen=True)
class Bundle:
    """A bundle that has been written; `notes` are for its organiser."""

    file: Path
    phases: Sequence[PlannedPhase]
    notes: Sequence[str]


def write_bundle(source: Path, out: Path, step: Callable[[str], None] = lambda _: None) -> Bundle:
    """Write the bundle of the competition in a TOML file; `step` is told what is done.

    The key is in a file beside the TOML file, and is drawn if there is none. The same files give the same bytes.

    Raises:
        UserError: the description, a file that it names, or a task is invalid.
    """
    competition = read_competition(source)
    pages = _pages(competition, source)
    key_file, notes = source.with_suffix(".key"), []
    is_new = not key_file.exists()
    key = draw_key() if is_new else read_key(key_file)
    root = source.parent / competition.tasks
    step(f"reading the tasks in {root}")
    phases = plan_phases(competition, root, str(source), competition_of(key))
    if is_new:
        write_key(key_file, key)
        notes.append(f"{key_file} is new: keep it secret, and keep it: results can only be collected with it")
    notes += [line for one in phases if (line := _too_short(one)) is not None]
    step(f"writing {out}")
    files = {path: name for path, (name, _) in pages.items()}
    members: dict[str, Content] = dict(pages.values())
    members[description.NAME] = describe(competition, phases, files)
    with writing(out), tempfile.TemporaryDirectory(dir=out.absolute().parent) as temporary:
        for name, parts in _archives(phases, key).items():
            members[name] = Path(temporary, name)
            write_archive(Path(temporary, name), parts)
        whole = Path(temporary, "bundle.zip")
        write_archive(whole, members, packed=False)
        whole.chmod(0o600)  # it holds the key, and hidden tasks
        whole.replace(out)
    return Bundle(out, phases, notes)


def _archives(phases: Sequence[PlannedPhase], key: bytes) -> dict[str, Mapping[str, Content]]:
    """Return name -> members of the archives in the bundle."""
    found: dict[str, Mapping[str, Content]] = {
        description.STARTING_KIT: starting_kit(phases),
        description.SOLUTION: solution(),
    }
    for number, one in enumerate(phases):
        inputs: dict[str, Content] = {name: file for task in one.tasks for name, file in inputs_of(task).items()}
        programs = {part: _program(one, key, part) for part in (INGESTION, SCORING)}
        if one.phase.hidden:
            programs[INGESTION] |= {f"{TASKS}/{name}": content for name, content in inputs.items()}
        else:
            found[archive_of(number, INPUT)] = inputs
        found |= {archive_of(number, part): members for part, members in programs.items()}
        found[archive_of(number, REFERENCE)] = references_of(one.tasks, hidden=one.phase.hidden)
    return found


def _program(one: PlannedPhase, key: bytes, part: str) -> dict[str, Content]:
    command = f"command: {COMMANDS[part]}\n".encode()
    return {COMMAND: command, SETTINGS: one.settings.to_bytes(), KEY: key + b"\n"}


def _pages(competition: Competition, source: Path) -> dict[str, tuple[str, bytes]]:
    """Return path in the TOML file -> name in the bundle and content, of logo, terms and pages."""
    found: dict[str, tuple[str, bytes]] = {}
    for number, path in enumerate([competition.image, competition.terms, *(page.file for page in competition.pages)]):
        file = source.parent / path
        with located(source):
            content = read_regular(file, MAX_PAGE, links=True)
        if not content.strip():
            raise UserError("is empty", file=file, expected="content", remedy="the platform refuses empty pages")
        found[path] = (f"pages/{number}{file.suffix.lower()}", content)
    _require_logo(source.parent / competition.image, found[competition.image][1])
    return found


def _require_logo(file: Path, content: bytes) -> None:
    try:
        with Image.open(io.BytesIO(content), formats=LOGOS) as image:
            image.verify()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise UserError("not a logo", file=file, expected=f"a whole image, {', '.join(LOGOS)}") from error


def _too_short(one: PlannedPhase) -> str | None:
    """Return a note if the container's time does not suffice for calls that use all of theirs."""
    left_s = one.settings.for_calls_s
    if one.longest_s <= left_s:
        return None
    return (
        f"phase {one.phase.name!r}: calls that use all of their {one.phase.time_limit:g} s take {one.longest_s:.0f} s "
        f"one after the other, and a container has {left_s:.0f} s for them: what is not called then has no value"
    )
