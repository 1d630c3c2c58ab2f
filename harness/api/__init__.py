"""What the commands of `pgdl` do, as functions: arguments in, a result object out.

The command line, a notebook, a job of CI and a service are faces of it. Nothing here prints: a `Progress` shows the
work, and mistakes are a `UserError`. Each name is imported when it is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.api.boards import BoardResult, board
    from harness.api.check_report import CheckReport
    from harness.api.checks import check
    from harness.api.ci import ChangeResult, Job, evaluate_change
    from harness.api.comparisons import CompareResult, compare, compare_recorded
    from harness.api.costs import Costs, forecast_costs
    from harness.api.execution import UNSAFE, Execution
    from harness.api.progress import Progress
    from harness.api.records import open_results, results
    from harness.api.reports import ReportResult, report
    from harness.api.runs import RunResult, run
    from harness.api.scores import ScoreResult, score
    from harness.api.tally import Tally
    from harness.site import verify_site as verify

#: Name -> module, and the name there if it is another one.
_PLACES = {
    "UNSAFE": "harness.api.execution",
    "BoardResult": "harness.api.boards",
    "ChangeResult": "harness.api.ci",
    "CheckReport": "harness.api.check_report",
    "CompareResult": "harness.api.comparisons",
    "Costs": "harness.api.costs",
    "Execution": "harness.api.execution",
    "Job": "harness.api.ci",
    "Progress": "harness.api.progress",
    "ReportResult": "harness.api.reports",
    "RunResult": "harness.api.runs",
    "ScoreResult": "harness.api.scores",
    "Tally": "harness.api.tally",
    "board": "harness.api.boards",
    "check": "harness.api.checks",
    "compare": "harness.api.comparisons",
    "compare_recorded": "harness.api.comparisons",
    "evaluate_change": "harness.api.ci",
    "forecast_costs": "harness.api.costs",
    "open_results": "harness.api.records",
    "report": "harness.api.reports",
    "results": "harness.api.records",
    "run": "harness.api.runs",
    "score": "harness.api.scores",
    "verify": "harness.site:verify_site",
}

__all__ = [
    "UNSAFE", "BoardResult", "ChangeResult", "CheckReport", "CompareResult", "Costs", "Execution", "Job",
    "Progress", "ReportResult", "RunResult", "ScoreResult", "Tally", "board", "check", "compare",
    "compare_recorded", "evaluate_change", "forecast_costs", "open_results", "report", "results", "run", "score",
    "verify",
]  # fmt: skip

#: The modules that other rooms use, beside the names above.
MODULES = ("calls", "check_report", "checks", "ci_files", "commands", "comparisons", "costs", "needs", "tally")


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, there = _PLACES[name].partition(":")
    return getattr(importlib.import_module(module), there or name)


def __dir__() -> list[str]:
    return __all__
