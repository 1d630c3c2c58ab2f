"""Asks whether files exist, how long they are and when they changed, by their true paths. None is mounted."""

import os

EXPECT = ("OK",)
KNOWN_BREACH = "Landlock refuses what is in a file and in a directory, not the state of a path"
BREACHED = ("landlock", "platform")


def complexity(model, dataset):
    for path in ("@TASK@/single/model_0/config.json", "@CACHE@/staged"):
        if os.path.exists(path):
            print(f"BREACH: {path} has {os.stat(path).st_size} bytes")
    return 1.0
