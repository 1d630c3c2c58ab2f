"""Plans calls, runs them in parallel and records their outcomes."""

#: The modules that other rooms use.
MODULES = (
    "budget", "check", "cluster", "dispatch", "execute", "executor", "executors", "machine", "order", "plan", "run",
    "settings", "unused_gpu",
)  # fmt: skip
