"""Infers the number of earlier processes from the ID of a new one. In each call, IDs start at 1."""

import os

EXPECT = ("OK",)
TWICE = True
KNOWN_BREACH = "without namespaces process numbers are the machine's"
BREACHED = ("landlock", "platform")


def complexity(model, dataset):
    child = os.fork()
    if child == 0:
        os._exit(0)
    if child > 500:
        print(f"BREACH: process {child}")
    return 1.0
