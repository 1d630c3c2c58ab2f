"""Definitions that attacks of several kinds use."""

import os
import sys


def attempt(what, action):
    """Try an action that must be refused."""
    try:
        action()
    except (OSError, ValueError):
        return
    print(f"BREACH: {what}")


def call_all(calls):
    """Make system calls that must be refused."""
    for name, call in calls.items():
        if call() >= 0:
            print(f"BREACH: {name}")


def processes():
    """All that are listed; where none are, numbers near one's own."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return [1, *range(max(os.getpid() - 300, 2), os.getpid() + 50)]


def data_directory():
    """Where the training data are: a frame above knows it."""
    frame = sys._getframe()
    while "data_directory" not in frame.f_locals:
        frame = frame.f_back
    return str(frame.f_locals["data_directory"])
