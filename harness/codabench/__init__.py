"""Competitions on the platform Codabench: the bundle to upload, the two programs that it runs, and the results."""

#: Modules that other packages of `harness` may import.
MODULES = ("bundle", "competition", "downloads", "ingestion", "organising", "scoring_program")
