"""Environment variables that stand for options of the command line."""


def variable_of(option: str) -> str:
    """Return the variable of an option: `PGDL_TIME_LIMIT` of `--time-limit`."""
    return "PGDL_" + option.removeprefix("--").upper().replace("-", "_")
