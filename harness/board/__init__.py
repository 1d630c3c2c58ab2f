"""Turns records and reference data into scores and boards; all computation is in `scoring`."""

#: The modules that other rooms use.
MODULES = (
    "across_tasks", "board", "collect", "column", "columns", "comparison", "comparison_plot", "formats",
    "hyperparameters", "identical", "leaderboard", "oracle", "predictions", "published", "remarks", "recorded",
    "repetitions", "rounding", "row", "scores", "stability", "standings", "versions", "yardstick",
)  # fmt: skip
