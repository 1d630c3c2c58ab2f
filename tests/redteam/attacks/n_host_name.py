"""Asks for the machine's name. A sandbox has a name of its own."""

import os
import socket

EXPECT = ("OK",)
KNOWN_BREACH = "without namespaces the machine's name is everybody's"
BREACHED = ("landlock",)


def complexity(model, dataset):
    if "@HOST@" in (socket.gethostname(), os.uname().nodename):
        print("BREACH: the machine's name")
    return 1.0
