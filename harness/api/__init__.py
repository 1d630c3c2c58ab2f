"""What the commands of `pgdl` do, as functions: arguments in, a result object out.

The command line, a notebook, a job of CI and a service are faces of it. Nothing here prints: a `Progress` shows the
work, and mistakes are a `UserError`.
"""

from harness.api.board import BoardResult, board
from harness.api.check import check
from harness.api.check_report import CheckReport
from harness.api.ci import ChangeResult, Job, evaluate_change
from harness.api.compare import CompareResult, compare
from harness.api.execution import UNSAFE, Execution
from harness.api.progress import Progress
from harness.api.report import ReportResult, report
from harness.api.results import open_results, results
from harness.api.run import RunResult, run
from harness.api.score import ScoreResult, score
from harness.api.tally import Tally
from harness.site import verify_site as verify

__all__ = [
    "UNSAFE", "BoardResult", "ChangeResult", "CheckReport", "CompareResult", "Execution", "Job", "Progress",
    "ReportResult", "RunResult", "ScoreResult", "Tally", "board", "check", "compare", "evaluate_change", "open_results",
    "report", "results", "run", "score", "verify",
]  # fmt: skip
