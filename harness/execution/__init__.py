"""Plans calls, runs them in parallel and records their outcomes."""
