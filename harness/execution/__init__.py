"""Plans the calls of a run, makes them in parallel and records their outcomes."""

#: Modules that other rooms may import.
MODULES = (
    "budget", "check", "cluster", "dispatch", "evaluation", "execute", "executor", "executors", "forecast", "machine",
    "order", "partial_calls", "plan", "run", "settings",
)  # fmt: skip
