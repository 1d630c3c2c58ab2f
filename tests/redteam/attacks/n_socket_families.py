"""Makes sockets of every family and type. Only AF_UNIX is left, and the network namespace is empty."""

import socket

EXPECT = ("OK",)


def complexity(model, dataset):
    for family in range(2, 48):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            for protocol in (0, 1, 16):
                try:
                    socket.socket(family, kind, protocol).close()
                    print(f"BREACH: socket {family}, {kind}, {protocol}")
                except OSError:
                    pass
    return 1.0
