"""One file per version of the tables: what has to be done to the version before it."""
