"""Plans calls, runs them in parallel and records what becomes of each."""
