"""Writes the bundle of a competition: a public zip archive that an organiser uploads to Codabench."""

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from harness.codabench import description
from harness.codabench.competition import CodabenchCompetition, PlannedPhase, plan_phases, read_competition
from harness.codabench.description import INGESTION, INPUT, REFERENCE, SCORING, archive_of, describe
from harness.codabench.rules import ICON_WIDTH, LOGOS, Content, hidden_in, is_logo, is_page
from harness.codabench.settings import COMMAND, SETTINGS, inputs_of, references_of
from harness.errors import UserError, UserErrors, writing
from harness.format.files import located
from harness.reading import open_regular, read_regular
from harness.submission.template import template
from harness.task import DEFAULT_DIRECTORY
from harness.task.layout import TaskDirectory
from harness.worker.runtimes import DEFAULT

MAX_FILE = 64 * 1024**2  #: maximum size of a page or logo in bytes
SHOWN = 5  #: maximum number of files that reveal a hidden task in a message

#: Time and mode of all files in archives: the earliest time that a zip can hold; readable by everybody.
NO_TIME, _MODE = (1980, 1, 1, 0, 0, 0), 0o100644 << 16

#: Program -> the command that the platform runs in its container.
COMMANDS = {
    INGESTION: "pgdl codabench ingest /app/program /app/input_data /app/ingested_program /app/output",
    SCORING: "pgdl codabench score /app/program /app/input/ref /app/input/res /app/output",
}


def write_bundle(source: Path, out: Path, step: Callable[[str], None] = lambda _: None) -> list[PlannedPhase]:
    """Write to `out` the bundle of the competition that the TOML file `source` describes; return the phases.

    The same files give the same bytes. `step` receives a line before each step of the work. Raise `UserError` if the
    description, a file that it names, or a task is invalid, or if the platform would refuse the bundle.
    """
    competition = read_competition(source)
    pages = _pages(competition, source)
    step(f"reading the tasks in {competition.tasks}")
    phases = plan_phases(competition, source)
    archives = _archives(phases)
    described = describe(competition, phases, {path: name for path, (name, _) in pages.items()})
    step("looking for hidden tasks")
    members: list[tuple[str, Content]] = [(path, content) for path, (_, content) in pages.items()]
    members += [(description.NAME, described)]
    members += [(f"{name}: {path}", content) for name, parts in archives.items() for path, content in parts.items()]
    _require_public(competition, members, source)
    step(f"writing {out}")
    with writing(out), tempfile.TemporaryDirectory(dir=out.absolute().parent) as temporary:
        contents: dict[str, Content] = {description.NAME: described, **dict(pages.values())}
        for name, parts in archives.items():
            contents[name] = Path(temporary, name)
            write_archive(Path(temporary, name), parts)
        whole = Path(temporary, "bundle.zip")
        write_archive(whole, contents, packed=False)
        whole.replace(out)
    return phases


def _require_public(competition: CodabenchCompetition, members: Iterable[tuple[str, Content]], source: Path) -> None:
    names = competition.hidden_tasks
    found = hidden_in(members, TaskDirectory(Path(competition.tasks)).runnable(names) if names else ())
    if problems := [f"{source}: {line}" for line in found]:
        more = len(problems) - SHOWN
        raise UserErrors(*problems[:SHOWN], *([f"and {more} more files of the bundle"] if more > 0 else []))


def _archives(phases: Sequence[PlannedPhase]) -> dict[str, Mapping[str, Content]]:
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
    """Return (path in the TOML file) -> (name in the bundle, content), for logo, terms and pages."""
    found: dict[str, tuple[str, bytes]] = {}
    for number, path in enumerate([competition.image, competition.terms, *(page.file for page in competition.pages)]):
        with located(source):
            content = read_regular(source.parent / path, MAX_FILE, links=True)
        if number == 0 and not is_logo(content):
            kinds = f"{', '.join(LOGOS[:-1])} or {LOGOS[-1]}"
            expected = f"a complete {kinds} picture, not in CMYK, at most {ICON_WIDTH} times as wide as high"
            raise UserError(path, file=source, expected=expected)
        if number and not is_page(content):
            raise UserError(path, file=source, expected="a text in UTF-8, not empty, without NUL")
        found[path] = (f"pages/{number}{Path(path).suffix.lower()}", content)
    return found


def write_archive(path: Path, members: Mapping[str, Content], *, packed: bool = True) -> None:
    """Write a zip archive of members (name -> content). Raise `UserError` if this fails.

    Archives of equal members have equal bytes.
    """
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with writing(path), zipfile.ZipFile(path, "w", method) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, NO_TIME)
            info.compress_type, info.external_attr, info.create_system = method, _MODE, 3
            content = members[name]
            if isinstance(content, bytes):
                archive.writestr(info, content)
                continue
            with open_regular(content, links=True) as source:
                info.file_size = os.fstat(source.fileno()).st_size  # decides whether the archive needs 64 bits
                with archive.open(info, "w") as target:
                    shutil.copyfileobj(source, target, 1 << 20)


_README = """\
# Starting kit

`complexity.py` is a commented template of a submission, and works as it is. To try it, install pgdl-harness and run, in
this directory:

```sh
{commands}
```

To hand it in, pack `complexity.py`, `metadata` and other files that it needs into a zip archive, and upload that:

```sh
zip submission.zip complexity.py metadata
```
"""


def solution() -> Mapping[str, Content]:
    """Return the files of the sample submission: name -> content."""
    return {name: text.encode() for name, text in template("template", DEFAULT).items()}


def starting_kit(phases: Sequence[PlannedPhase]) -> Mapping[str, Content]:
    """Return the files of the starting kit (name -> content): the sample submission, and all phases' public tasks."""
    tasks = {task.name: task for one in phases for task in one.tasks}
    found = dict(solution())
    files = [*map(inputs_of, tasks.values()), references_of(list(tasks.values()))]
    found |= {f"{DEFAULT_DIRECTORY}/{name}": file for some in files for name, file in some.items()}
    limit = min(one.phase.time_limit for one in phases)
    commands = ["pgdl check .", f"pgdl run . --time-limit {limit:g}", "pgdl score"]
    return found | {"README.md": _README.format(commands="\n".join(commands)).encode()}
