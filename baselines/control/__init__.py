"""A random measure, whose score shows the level of chance."""
