"""Asks for a page and for a name, and lets the last error escape."""

import socket
import urllib.request

EXPECT = ("EXCEPTION", "FORBIDDEN")


def complexity(model, dataset):
    try:
        socket.getaddrinfo("example.org", 80)
        print("BREACH: found a name")
    except OSError:
        pass
    return float(urllib.request.urlopen("http://192.0.2.1/", timeout=1).status)
