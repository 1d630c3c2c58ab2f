"""Connects to an abstract socket of the machine, by its name. These names belong to the network namespace."""

import socket

EXPECT = ("OK",)


def complexity(model, dataset):
    for name in ("\0redteam-@TOKEN@", "@TASK@/socket", "/run/dbus/system_bus_socket", "/var/run/docker.sock"):
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(name)
            print(f"BREACH: connected to {name!r}")
        except OSError:
            pass
    return 1.0
