"""Plans calls, runs them in parallel and records their outcomes."""

#: The modules that other rooms use.
MODULES = (
    "budget", "check", "cluster", "dispatch", "execute", "executor", "executors", "forecast", "machine", "order",
    "partial_calls", "plan", "run", "settings", "unused_gpu",
)  # fmt: skip
