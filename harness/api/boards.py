"""The function `pgdl.board`: the leaderboard of recorded submissions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.api.alike import shown_once
from harness.api.competition import FIRST, NO_RECORDS, failed_outputs, notes_on_records, read_competition, read_current
from harness.api.summarized import ShownAsBoard
from harness.board.board import Board
from harness.board.versions import find_versions
from harness.credentials import RESULTS, Address
from harness.records import Records
from harness.site import TITLE, SiteData, gather
from harness.task import DEFAULT_DIRECTORY
from harness.task.hidden import Withhold
from harness.task.layout import TaskDirectory
from harness.task.summary import describe_networks


@dataclass(frozen=True, repr=False)
class BoardResult(ShownAsBoard):
    """A leaderboard and, if requested, the data of its static site (for `harness.site.write_site`)."""

    board: Board
    site: SiteData | None = None


def board(
    *,
    tasks_dir: str | Path = DEFAULT_DIRECTORY,
    task_names: Sequence[str] = (),
    results: Address | Path | str = RESULTS,
    withhold: str = Withhold.AUTO.value,
    everything: bool = False,
    with_site: bool = False,
    title: str = TITLE,
    organiser: str = "",
) -> BoardResult:
    """Return the leaderboard of all recorded submissions.

    Records of earlier versions of a task are ignored. If several measures order all models in the same way, such as a
    measure and its logarithm, only one of them is shown.

    Args:
        everything: show every version and configuration of a submission in its own row, and leave out no measure.
        with_site: also return the data of a static site.
        organiser: the person or group that runs the board, as named on the site.

    Raises:
        UserError: tasks, reference data or records are missing or invalid.
    """
    competition = read_competition(Path(tasks_dir), Withhold(withhold), task_names)
    with Records(results, read_only=True) as records:
        found = find_versions(records, competition.references, everything=everything)
        found, alike = (found, []) if everything else shown_once(found)
        collected = read_current(records, competition, found)
        told = [*competition.resolution(), *alike]
        empty = [] if collected.shown else [f"{NO_RECORDS}; {FIRST}"]
        notes = [*empty, *competition.notes(collected.shown), *told, *notes_on_records(records, collected.shown)]
        outputs = failed_outputs(records, collected.shown) if with_site else {}
    built = competition.board(collected, notes, competition.command(results))
    if not with_site:
        return BoardResult(built)
    public = [name for name in competition.references if name not in competition.withheld]
    networks = {files.name: describe_networks(files) for files in TaskDirectory(Path(tasks_dir)).present(public)}
    site = gather(
        collected.shown, built, competition.references, competition.n_test, outputs, networks=networks, title=title,
        organiser=organiser,
    )  # fmt: skip
    return BoardResult(built, site)
