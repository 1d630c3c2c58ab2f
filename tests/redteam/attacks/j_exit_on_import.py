"""Exits while it is imported."""

import os

EXPECT = ("CRASH",)

os._exit(3)
