"""Leaves marks in the kernel: queues, keyrings, abstract sockets. Each is refused, or belongs to the namespace."""

import ctypes
import socket

EXPECT = ("OK",)
TWICE = True
IPC_CREAT = 0o1000


def complexity(model, dataset):
    libc = ctypes.CDLL(None, use_errno=True)
    calls = {
        "shmget": lambda: libc.shmget(4711, 4096, IPC_CREAT | 0o666),
        "msgget": lambda: libc.msgget(4711, IPC_CREAT | 0o666),
        "semget": lambda: libc.semget(4711, 1, IPC_CREAT | 0o666),
        "mq_open": lambda: libc.syscall(240, b"mark", 0o102, 0o666, None),
        "add_key": lambda: libc.syscall(248, b"user", b"mark", b"x", 1, -4),
        "keyctl": lambda: libc.syscall(250, 0, -4, 0),
        "request_key": lambda: libc.syscall(249, b"user", b"mark", None, -4),
    }
    for name, call in calls.items():
        if call() >= 0:
            print(f"BREACH: {name}")
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("\0mark")
    except PermissionError:
        pass
    except OSError:
        print("BREACH: a socket of another call")
    return 1.0
