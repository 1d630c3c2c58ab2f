"""Reads how many processes there were before from the number of a new one. Each call counts from 1."""

import os

EXPECT = ("OK",)
TWICE = True
KNOWN_BREACH = "without namespaces process numbers are the machine's"
BREACHED = ("landlock",)


def complexity(model, dataset):
    child = os.fork()
    if child == 0:
        os._exit(0)
    if child > 500:
        print(f"BREACH: process {child}")
    return 1.0
