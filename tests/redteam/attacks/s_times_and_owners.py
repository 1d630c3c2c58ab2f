"""Reads times, owners and inode order of its files. Copies have no times."""

import os

EXPECT = ("OK",)


def complexity(model, dataset):
    for directory, _, files in os.walk(os.path.dirname(__file__)):
        for path in (directory, *(os.path.join(directory, name) for name in files)):
            if os.stat(path).st_mtime != 0:
                print(f"BREACH: {path} has a time")
    return 1.0
