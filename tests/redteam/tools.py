"""Definitions that several kinds of attacks share."""

import os
import sys


def attempt(what, action):
    """Try an action that must be refused; print BREACH if it succeeds."""
    try:
        action()
    except (OSError, ValueError):
        return
    print(f"BREACH: {what}")


def call_all(calls):
    """Make system calls that must be refused; print BREACH for each that succeeds."""
    for name, call in calls.items():
        if call() >= 0:
            print(f"BREACH: {name}")


def processes():
    """Return all process IDs in /proc; if they cannot be listed, IDs near the ID of this process."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return [1, *range(max(os.getpid() - 300, 2), os.getpid() + 50)]


def data_directory():
    """Return the directory of the training data, from a variable in a frame above."""
    frame = sys._getframe()
    while "data_directory" not in frame.f_locals:
        frame = frame.f_back
    return str(frame.f_locals["data_directory"])
