"""An organiser's commands for a phase on the platform: collect results, download submissions, publish scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.api.progress import SILENT, Progress
from harness.codabench.collection import CollectedResults, choose_phase, collect
from harness.codabench.columns import COMPLETE, FINAL, completeness
from harness.codabench.competition import position_of, read_competition
from harness.codabench.downloads import download, read_table
from harness.codabench.platform import OpenedPhase, Platform, open_phase, read_token, split_page
from harness.credentials import Address
from harness.errors import UserError
from harness.site import verify_site, write_site
from harness.submission import find_submission
from harness.submission.name import clean
from harness.task import DEFAULT_DIRECTORY
from pgdl import board


@dataclass(frozen=True)
class Organiser:
    """An organiser's access to the platform."""

    token_file: Path | None = None  #: file with the organiser's token; None for the variable CODABENCH_TOKEN
    readable: tuple[str, ...] = ()  #: hosts that may be reached without encryption

    def open(self, page: Address, phase: str | None, progress: Progress) -> OpenedPhase:
        """Open a phase of the competition at the address `page`, and warn of hosts without encryption."""
        site, number = split_page(page)
        for host in self.readable:
            why = "others may read the token and the files"
            progress.warn(f"{host}: its http addresses are reached without encryption; {why}")
        return open_phase(Platform(site, read_token(self.token_file), self.readable), number, phase)


USUAL = Organiser()  #: an organiser whose token is in the environment


def collect_results(
    competition: Path,
    source: Address,
    *,
    phase: str | None = None,
    downloads: Path = Path("exports"),
    share: float = 0.1,
    organiser: Organiser = USUAL,
    results: Address,
    html: Path | None = None,
    progress: Progress = SILENT,
) -> CollectedResults:
    """Check the results of a public phase, and add them to the database `results`.

    `competition` is the TOML file of the competition. `source` is the address of its page, or a directory with files of
    the platform. Downloaded files go to a folder of `downloads`. A random `share` (0 to 1) of the calls of each
    submission is made again. A site is written to the directory `html`, and verified there; None: no site. Raise
    `UserError` if a file is invalid, the platform refuses a request, or no sandbox works here.
    """
    read = read_competition(competition)
    chosen, tasks_dir = choose_phase(read, phase, competition), Path(read.tasks)
    name = chosen.phase.name
    directory = downloads / clean(name) if source.is_url else Path(source.reveal())
    if source.is_url:
        opened = organiser.open(source, name, progress)
        found, notes = download(opened, chosen.phase.ends, directory, progress.step, with_results=True)
        names = [one.name for one in sorted(found, key=lambda one: one.submission)]  # oldest first
        for line in notes:
            progress.warn(line)
    else:
        names = sorted(file.stem for file in directory.glob("*.zip"))
    collected = collect(chosen.settings, tasks_dir, directory, names, results, share, progress)
    head = None if html is None else _write_site(name, list(chosen.settings.tasks), results, tasks_dir, html)
    return replace(collected, head=head)


def _write_site(title: str, tasks: Sequence[str], results: Address, tasks_dir: Path, html: Path) -> str:
    made = board(tasks_dir=tasks_dir, task_names=tasks, results=results, with_site=True, title=title)
    assert made.site is not None
    head = write_site(made.site, html)
    for line in verify_site(html).differences:
        raise UserError("not as computed from its records", file=html, found=line)
    return head


def download_submissions(
    competition: Path,
    page: Address,
    output: Path,
    *,
    phase: str | None = None,
    organiser: Organiser = USUAL,
    progress: Progress = SILENT,
) -> tuple[str, int]:
    """Download one submission of each participant to `output`; return the phase's name and the number of submissions.

    A participant's submission on the platform's board is chosen, or else the participant's last submission. Submissions
    whose files were written after the end of the phase do not count. `competition` is the competition's TOML file,
    `page` the address of its page. Raise `UserError` if a file is invalid, or the platform refuses a request.
    """
    phases = read_competition(competition).phases
    chosen = phases[position_of(phase, [one.name for one in phases], competition)]
    opened = organiser.open(page, chosen.name, progress)
    found, notes = download(opened, chosen.ends, output, progress.step, with_results=False)
    for line in notes:
        progress.warn(line)
    return opened.phase.name, len(found)


def publish_scores(
    page: Address,
    directory: Path,
    *,
    phase: str | None = None,
    organiser: Organiser = USUAL,
    results: Address,
    tasks_dir: Path = Path(DEFAULT_DIRECTORY),
    task_names: Sequence[str] = (),
    progress: Progress = SILENT,
) -> tuple[str, int]:
    """Put the scores of the database `results` on the platform's board; return (name of the phase, number of scores).

    `page` is the address of the competition's page, and `directory` was written by `download_submissions`. Organisers
    can change only existing scores (api/views/leaderboards.py:38), so the scoring program of a hidden phase has written
    a placeholder for each submission. Raise `UserError` if the platform refuses a request.
    """
    rows = board(tasks_dir=tasks_dir, task_names=task_names, results=results).board.rows
    opened = organiser.open(page, phase, progress)
    # Of the rows of a version with several settings, the most recently requested counts.
    oldest_first = sorted(rows, key=lambda row: row.age, reverse=True)
    scores, n_scores = {(row.submission, row.version): row for row in oldest_first}, 0
    listed = {one.id: one for one in opened.submissions if one.on_leaderboard}
    for one in read_table(directory):
        file = directory / f"{one.name}.zip"
        row, there = scores.get((one.name, find_submission(str(file), one.name).digest)), listed.get(one.submission)
        cells = {cell.column_key: cell for cell in there.scores} if there else {}
        if row is None or row.score is None:
            progress.warn(f"{one.name}: left out: no score of {file} in the results")
            continue
        if FINAL not in cells:
            progress.warn(f"{one.name}: left out: submission {one.submission} has no `{FINAL}` on the platform's board")
            continue
        for key, value in ((FINAL, row.score), (COMPLETE.key, completeness(row))):
            if key in cells:
                opened.platform.patch(f"submission_scores/{cells[key].id}/", {"score": f"{value:.4f}"})
        n_scores += 1
    return opened.phase.name, n_scores
