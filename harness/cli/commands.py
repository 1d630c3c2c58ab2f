"""Commands that are printed for users to paste."""

import shlex

from harness.credentials import has_secrets

#: The location of the records, if none is given.
RESULTS = "results.db"


def results_option(location: str) -> str:
    """Return the option for the records; a location with a password stands for itself in a variable."""
    if location == RESULTS:
        return ""
    return '--results "$PGDL_RESULTS"' if has_secrets(location) else shlex.join(["--results", location])
