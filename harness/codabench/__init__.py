"""Competitions on Codabench: the bundle, the two programs that the platform runs, and the results that come back."""

#: The modules that other rooms use.
MODULES = ("bundle", "collection", "downloads", "ingestion", "platform", "scoring_program", "seal", "validation")
