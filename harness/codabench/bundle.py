"""Writes the bundle of a competition. Whatever is in a bundle is public: on the platform, everybody can download it."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.codabench import description
from harness.codabench.archives import Content, write_archive
from harness.codabench.competition import CodabenchCompetition, read_competition
from harness.codabench.description import INGESTION, INPUT, REFERENCE, SCORING, archive_of, describe
from harness.codabench.kit import solution, starting_kit
from harness.codabench.phases import PlannedPhase, plan_phases
from harness.codabench.rules import LOGOS, hidden_in, is_logo, is_page
from harness.codabench.settings import COMMAND, SETTINGS, inputs_of, references_of
from harness.errors import UserError, UserErrors, writing
from harness.format.files import located
from harness.reading import read_regular
from harness.task.layout import TaskDirectory

#: Most bytes of a page or logo.
MAX_FILE = 64 * 1024**2

#: The commands that the platform runs, with the directories that it mounts.
COMMANDS = {
    INGESTION: "pgdl codabench ingest /app/program /app/input_data /app/ingested_program /app/output",
    SCORING: "pgdl codabench score /app/program /app/input/ref /app/input/res /app/output",
}


def write_bundle(source: Path, out: Path, step: Callable[[str], None] = lambda _: None) -> list[PlannedPhase]:
    """Write the bundle of the competition in a TOML file, and return its phases; `step` is told what is done.

    The same files give the same bytes.

    Raises:
        UserError: the description, a file that it names, or a task is invalid, or the platform would refuse the bundle.
    """
    competition = read_competition(source)
    pages = _pages(competition, source)
    step(f"reading the tasks in {competition.tasks}")
    phases = plan_phases(competition, source)
    archives = _archives(phases)
    contents: dict[str, Content] = dict(pages.values())
    contents[description.NAME] = describe(competition, phases, {path: name for path, (name, _) in pages.items()})
    step("looking for hidden tasks")
    _require_public(competition, contents, archives, {name: path for path, (name, _) in pages.items()}, source)
    step(f"writing {out}")
    with writing(out), tempfile.TemporaryDirectory(dir=out.absolute().parent) as temporary:
        for name, parts in archives.items():
            contents[name] = Path(temporary, name)
            write_archive(Path(temporary, name), parts)
        whole = Path(temporary, "bundle.zip")
        write_archive(whole, contents, packed=False)
        whole.replace(out)
    return phases


def _require_public(
    competition: CodabenchCompetition, contents: Mapping[str, Content], archives: Mapping[str, Mapping[str, Content]],
    own_names: Mapping[str, str], source: Path,
) -> None:  # fmt: skip
    """Raise `UserError` if a file names a hidden task, or is a file of one; pages have their own names in it."""
    members = {own_names.get(name, name): content for name, content in contents.items()}
    members |= {f"{name}: {path}": content for name, parts in archives.items() for path, content in parts.items()}
    names = competition.hidden_tasks
    found = hidden_in(members, TaskDirectory(Path(competition.tasks)).runnable(names) if names else ())
    if problems := [f"{source}: {line}" for line in found]:
        raise UserErrors(*problems)


def _archives(phases: Sequence[PlannedPhase]) -> dict[str, Mapping[str, Content]]:
    """Return name -> members of the archives in the bundle."""
    found: dict[str, Mapping[str, Content]] = {
        description.STARTING_KIT: starting_kit(phases),
        description.SOLUTION: solution(),
    }
    for number, one in enumerate(phases):
        found[archive_of(number, INPUT)] = {name: file for task in one.tasks for name, file in inputs_of(task).items()}
        found[archive_of(number, REFERENCE)] = references_of(one.tasks)
        for part, command in COMMANDS.items():
            program = {COMMAND: f"command: {command}\n".encode(), SETTINGS: one.settings.to_bytes()}
            found[archive_of(number, part)] = program
    return found


def _pages(competition: CodabenchCompetition, source: Path) -> dict[str, tuple[str, bytes]]:
    """Return path in the TOML file -> name in the bundle and content, of logo, terms and pages."""
    found: dict[str, tuple[str, bytes]] = {}
    for number, path in enumerate([competition.image, competition.terms, *(page.file for page in competition.pages)]):
        with located(source):
            content = read_regular(source.parent / path, MAX_FILE, links=True)
        if number == 0 and not is_logo(content):
            raise UserError(path, file=source, expected=f"a whole {', '.join(LOGOS)} for an icon: not CMYK, not flat")
        if number and not is_page(content):
            raise UserError(path, file=source, expected="a text in UTF-8, not empty, without NUL")
        found[path] = (f"pages/{number}{Path(path).suffix.lower()}", content)
    return found
