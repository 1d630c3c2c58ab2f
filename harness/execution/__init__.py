"""Plans calls, runs them in parallel and records their outcomes."""

#: The modules that other rooms use.
MODULES = ("budget", "check", "executor", "executors", "machine", "plan", "run", "settings", "unused_gpu")
