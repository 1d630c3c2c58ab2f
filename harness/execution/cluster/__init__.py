"""Calls on the machines of a cluster: what runs there, and how the driver speaks to it. Independent of the engine."""
