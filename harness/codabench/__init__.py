"""Competitions on Codabench: the bundle, the two programs that the platform runs, and the results that come back."""

from harness.codabench.bundle import Bundle, write_bundle
from harness.codabench.collection import Collected, collect
from harness.codabench.ingestion import Places as IngestionPlaces
from harness.codabench.ingestion import ingest
from harness.codabench.scoring_program import Places as ScoringPlaces
from harness.codabench.scoring_program import Scored, score_result
from harness.codabench.seal import read_key
from harness.codabench.validation import validate_bundle

__all__ = [
    "Bundle", "Collected", "IngestionPlaces", "Scored", "ScoringPlaces", "collect", "ingest", "read_key",
    "score_result", "validate_bundle", "write_bundle",
]  # fmt: skip
