"""Turns records and reference data into scores and boards; all computation is in `scoring`."""

#: The modules that other rooms use.
MODULES = (
    "across_tasks", "board", "collect", "column", "columns", "comparison", "comparison_plot", "formats",
    "hyperparameters", "identical", "leaderboard", "oracle", "predictions", "published", "remarks", "recorded",
    "repetitions", "rounding", "row", "scores", "stability", "standings", "versions", "yardstick",
)  # fmt: skip

#: Columns of each task that a board shows on request, by key.
ON_REQUEST = (
    "chance", "p_value", "printed", "kendall", "granulated_kendall", "sign_error", "robust_sign_error",
)  # fmt: skip
