"""Leaves marks in every scratch place, and looks for those of an earlier call. Each call has its own."""

import os

EXPECT = ("OK",)
TWICE = True


def complexity(model, dataset):
    submission = os.path.dirname(__file__)
    for place in {"/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", os.environ["TMPDIR"], submission}:
        if os.path.exists(f"{place}/mark"):
            print(f"BREACH: a mark in {place}")
        try:
            os.close(os.open(f"{place}/mark", os.O_CREAT | os.O_WRONLY))
        except OSError:
            pass
    return 1.0
