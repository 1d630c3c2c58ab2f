"""Score complexity measures against generalization gaps: arrays in, numbers out.

Pure functions of a task's hyperparameter grid, the generalization gap of each model (train accuracy minus
test accuracy) and the value that a complexity measure gave each model. No files, no clock, no TensorFlow.
"""

from scoring.combination import pca_gi_mixup
from scoring.errors import GridError, ScoreUndefined
from scoring.grid import Grid
from scoring.kendall import GranulatedKendall, granulated_kendall, kendall_tau
from scoring.official import MINIMUM_HYPERPARAMETERS, OfficialScore, official_score, require_official
from scoring.oracle import noisy_oracle
from scoring.printed import PrintedScore, Ties, printed_score
from scoring.ranking import Entry, Ranked, rank
from scoring.rule import RULE, Failure, SubmissionScore, TaskCalls, mean_score, score_submission
from scoring.task_score import TaskScore, score_task
from scoring.values import Value

__all__ = [
    "MINIMUM_HYPERPARAMETERS",
    "RULE",
    "Entry",
    "Failure",
    "GranulatedKendall",
    "Grid",
    "GridError",
    "OfficialScore",
    "PrintedScore",
    "Ranked",
    "ScoreUndefined",
    "SubmissionScore",
    "TaskCalls",
    "TaskScore",
    "Ties",
    "Value",
    "granulated_kendall",
    "kendall_tau",
    "mean_score",
    "noisy_oracle",
    "official_score",
    "pca_gi_mixup",
    "printed_score",
    "rank",
    "require_official",
    "score_submission",
    "score_task",
]
