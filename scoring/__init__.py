"""Score complexity measures against generalization gaps: pure functions, arrays in, numbers out."""

from scoring.across_tasks import (
    MINIMUM_TASKS,
    MeanRanks,
    compare_mean_ranks,
    difference_on_other_tasks,
    mean_on_other_tasks,
    signed_rank_p_values,
)
from scoring.batches import MOST_RESAMPLED
from scoring.best_of_many import adjusted_p_values, p_values
from scoring.chance import Chance, compare_with_chance
from scoring.comparison import INTERVAL_LEVEL, Comparison, Difference, Standing, compare_submissions
from scoring.errors import GridError, ScoreUndefined
from scoring.explain import CellShare, CostlyPair, Explanation, explain_score
from scoring.grid import Grid, Value
from scoring.hyperparameters import additive_fit
from scoring.jackknife import GivenScore, given_score
from scoring.kendall import GranulatedKendall, granulated_kendall, kendall_tau
from scoring.official import (
    MINIMUM_HYPERPARAMETERS,
    OfficialScore,
    has_official_score,
    official_score,
    require_official,
)
from scoring.oracle import ORACLE_DRAWS, ORACLE_NOISE, noisy_oracle, oracle_scores
from scoring.overfitting import (
    IndependenceTest,
    RiskEstimates,
    bernstein_interval,
    pairwise_independence_test,
)
from scoring.pareto import pareto_front
from scoring.printed import PrintedScore, Ties, printed_score
from scoring.resolution import detectable_difference, smallest_p_value
from scoring.rule import RULE, Entry, Failure, Ranked, SubmissionScore, TaskCalls, mean_score, rank, score_submission
from scoring.sign_error import SignErrors, SignErrorScore, sign_errors
from scoring.spread import HeldOut
from scoring.stability import Stability, measure_stability
from scoring.task_score import TaskScore, score_task
from scoring.testbed import (
    ClassSpread,
    class_spread,
    divergences_from,
    error_rates,
    gaussian_divergence,
    inconsistency,
    one_vs_rest_kappas,
)
from scoring.trade_off import TradeOff, trade_off
from scoring.translations import AdversarialGenerator, nearest_translation, needed_shifts, strongest_translation

__all__ = [
    "INTERVAL_LEVEL", "MINIMUM_HYPERPARAMETERS", "MINIMUM_TASKS", "MOST_RESAMPLED", "ORACLE_DRAWS", "ORACLE_NOISE",
    "RULE", "AdversarialGenerator", "CellShare", "Chance", "ClassSpread", "Comparison", "CostlyPair", "Difference",
    "Entry", "Explanation", "Failure", "GivenScore", "GranulatedKendall", "Grid", "GridError", "HeldOut",
    "IndependenceTest", "MeanRanks", "OfficialScore", "PrintedScore", "Ranked", "RiskEstimates", "ScoreUndefined",
    "SignErrorScore", "SignErrors", "Stability", "Standing", "SubmissionScore", "TaskCalls", "TaskScore", "Ties",
    "TradeOff", "Value", "additive_fit", "adjusted_p_values", "bernstein_interval", "class_spread",
    "compare_mean_ranks", "compare_submissions", "compare_with_chance", "detectable_difference",
    "difference_on_other_tasks", "divergences_from", "error_rates", "explain_score", "gaussian_divergence",
    "given_score", "granulated_kendall", "has_official_score", "inconsistency", "kendall_tau", "mean_on_other_tasks",
    "mean_score", "measure_stability", "nearest_translation", "needed_shifts", "noisy_oracle", "official_score",
    "one_vs_rest_kappas", "oracle_scores", "p_values", "pairwise_independence_test", "pareto_front", "printed_score",
    "rank", "require_official", "score_submission", "score_task", "sign_errors", "signed_rank_p_values",
    "smallest_p_value", "strongest_translation", "trade_off",
]  # fmt: skip
