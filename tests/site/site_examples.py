"""A site of a few records, without any model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.board.board import Board
from harness.board.insight import find_insights
from harness.board.leaderboard import build_board
from harness.format.reference import Reference
from harness.outcome import Outcome
from harness.records import Evaluation, Request
from harness.site import SiteData, gather, paths_of, submission_pages
from harness.site.board import leaderboard
from harness.site.pages import render_site
from scoring import HeldOut
from tests.board.board_examples import GAPS, MEASURE, collect, failed, references, rows

TASKS = ["second", "toy"]

#: Output and message of a hostile submission.
HOSTILE = "</script><script>document.title='taken'</script><b>@everyone</b> {{ 7 * 7 }}"


def evaluations() -> list[Evaluation]:
    """Records of a winner, a baseline, and measures with ties, with a failed call, and without a sandbox."""
    return [
        *rows("winner", GAPS, TASKS),
        *rows("path_norm", MEASURE, TASKS, is_baseline=True, call_wall_s=0.25),
        *(row for n in range(3) for row in rows("ties", [1.0 + n, 2.0] * 4, TASKS, repeat=n)),
        *rows("half", MEASURE),
        *rows("half", MEASURE[:7], "second"),
        failed("half", "model_7", Outcome.EXCEPTION, "second", message=HOSTILE, output_tail=HOSTILE),
        *rows("outside", GAPS, TASKS, sandbox="none"),
    ]


def make(directory: Path, withheld: Sequence[str] = ()) -> tuple[SiteData, Board]:
    """Return the data of a site of two tasks of eight models, and its board."""
    everything, tasks = evaluations(), references(directory, *TASKS)
    collected = collect(everything, tasks)
    held_out = {
        name: HeldOut([tasks[name].test_accuracy[model] for model in tasks[name].models], 100) for name in TASKS
    }
    board = build_board(collected, tasks, withheld, held_out=held_out)
    outputs = {row.key: row.output_tail for row in everything if row.outcome != Outcome.OK}
    return gather(collected.shown, board, tasks, dict.fromkeys(TASKS, 100), outputs), board


def data_of(
    tasks: Mapping[str, Reference],
    records: Sequence[Evaluation],
    requests: Sequence[Request] = (),
    withheld: Sequence[str] = (),
    **options: str,
) -> SiteData:
    """Return the data of a site with these records; `options` are those of `gather`."""
    collected = collect(records, tasks, requests)
    return gather(collected.shown, build_board(collected, tasks, withheld), tasks, {}, {}, **options)


def pages_of(data: SiteData) -> dict[str, str]:
    return {name: content.decode() for name, content in render_site(data).items()}


def page_of(data: SiteData, submission: str) -> dict[str, Any]:
    """Return the variables of a submission's page, as for a report."""
    board = leaderboard(data)
    number = next(number for number, row in enumerate(board.rows) if row.submission == submission)
    (page,) = submission_pages(board, find_insights(board.rows, [number]), paths_of(board))
    return page


#: The longest name that a submission may have.
LONG_NAME = "a_name_" + 70 * "x" + "end"


def make_long(directory: Path, *, n_rows: int = 40, only_baselines: bool = False) -> SiteData:
    """Return the data of a long site: two runtimes, baselines, long names, calls of 5 ms to 100 s."""
    tasks = references(directory)
    everything = []
    for number in range(n_rows):
        values = [gap + 0.03 * ((number * place) % (number + 3)) for place, gap in enumerate(GAPS)]
        is_baseline = only_baselines or number % 3 == 1
        name = f"measure_{number}" if is_baseline else f"{number}_{LONG_NAME}"[:80] if number % 3 else f"team_{number}"
        everything += rows(
            name, values, is_baseline=is_baseline, call_wall_s=0.005 * 1.29**number, submission_digest=f"d{number}",
            runtime="jax" if number % 6 == 0 else "tensorflow",
        )  # fmt: skip
    return data_of(tasks, everything)
