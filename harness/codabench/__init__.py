"""Competitions on Codabench: the bundle, the two programs that the platform runs, and what comes back."""

#: The modules that other rooms use.
MODULES = (
    "bundle", "collection", "competition", "downloads", "entries", "ingestion", "platform", "publication",
    "scoring_program",
)  # fmt: skip
