"""From records and reference data to scores and the leaderboard; computes nothing itself, `scoring` does."""
