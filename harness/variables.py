"""Environment variables that stand for options of the command line."""


def variable_of(option: str) -> str:
    """Return the name of the environment variable of an option: `PGDL_TIME_LIMIT` for `--time-limit`."""
    return "PGDL_" + option.removeprefix("--").upper().replace("-", "_")
