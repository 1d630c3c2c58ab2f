"""Makes a task of models and data that people already have."""
