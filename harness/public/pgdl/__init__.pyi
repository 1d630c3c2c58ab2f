import scoring as scoring
from baselines import MEASURES as MEASURES
from baselines import MeasureUnavailable as MeasureUnavailable
from harness.api.boards import BoardResult as BoardResult
from harness.api.boards import board as board
from harness.api.check_report import CheckReport as CheckReport
from harness.api.checks import check as check
from harness.api.ci import ChangeJob as ChangeJob
from harness.api.ci import ChangeResult as ChangeResult
from harness.api.ci import evaluate_change as evaluate_change
from harness.api.comparisons import CompareResult as CompareResult
from harness.api.comparisons import compare as compare
from harness.api.comparisons import compare_recorded as compare_recorded
from harness.api.costs import Costs as Costs
from harness.api.costs import forecast_costs as forecast_costs
from harness.api.doctor import doctor as doctor
from harness.api.execution import UNSAFE as UNSAFE
from harness.api.execution import Execution as Execution
from harness.api.library import measure as measure
from harness.api.library import measures as measures
from harness.api.progress import Progress as Progress
from harness.api.protocols import invariance as invariance
from harness.api.protocols import overfit as overfit
from harness.api.records import open_results as open_results
from harness.api.records import remove_results as remove_results
from harness.api.records import results as results
from harness.api.reports import ReportResult as ReportResult
from harness.api.reports import report as report
from harness.api.runs import RunResult as RunResult
from harness.api.runs import run as run
from harness.api.scores import ScoreResult as ScoreResult
from harness.api.scores import score as score
from harness.api.starts import demo as demo
from harness.api.starts import new as new
from harness.api.starts import new_leaderboard as new_leaderboard
from harness.api.tally import Tally as Tally
from harness.api.task_checks import Validated as Validated
from harness.api.task_checks import validate_tasks as validate_tasks
from harness.api.task_sources import BuildResult as BuildResult
from harness.api.task_sources import build_task as build_task
from harness.api.task_sources import recipes as recipes
from harness.api.tasks import hide_task as hide_task
from harness.api.tasks import show_tasks as show_tasks
from harness.api.testbeds import TestbedResult as TestbedResult
from harness.api.testbeds import testbed as testbed
from harness.api.torch_tasks import TorchModel as TorchModel
from harness.api.torch_tasks import import_torch as import_torch
from harness.ci.rules import Rules as Rules
from harness.codabench.bundle import write_bundle as write_bundle
from harness.codabench.competition import read_competition as read_competition
from harness.codabench.ingestion import ingest as ingest
from harness.codabench.organising import Organiser as Organiser
from harness.codabench.organising import collect_results as collect_results
from harness.codabench.organising import download_submissions as download_submissions
from harness.codabench.organising import publish_scores as publish_scores
from harness.codabench.scoring_program import score_result as score_result
from harness.errors import UserError as UserError
from harness.fetch.archive import fetch_tasks
from harness.fetch.catalogue import corpora as corpora
from harness.fetch.corpus import fetch_corpus as fetch_corpus
from harness.format.reference import read_reference as read_reference
from harness.importer.run import ImportOrder as ImportOrder
from harness.importer.run import import_task as import_task
from harness.site import verify_site
from harness.task.summary import list_tasks as list_tasks

fetch_archive = fetch_tasks
verify = verify_site
