"""The network."""

import ctypes
import os
import socket
import urllib.request

import torch
from attack_suite import expected
from tools import LIBC, attempt, call_all


@expected("OK")
def n_abstract_socket(model, dataset):
    """Connects to an abstract socket of the machine by its name. Such names belong to the network namespace."""
    for name in ("\0redteam-@TOKEN@", "@TASK@/socket", "/run/dbus/system_bus_socket", "/var/run/docker.sock"):
        attempt(f"connected to {name!r}", lambda: socket.socket(socket.AF_UNIX).connect(name))


@expected("EXCEPTION", "FORBIDDEN")
def n_download(model, dataset):
    """Requests a page and a host name, and lets the last error escape."""
    attempt("found a name", lambda: socket.getaddrinfo("example.org", 80))
    return float(urllib.request.urlopen("http://192.0.2.1/", timeout=1).status)


@expected("OK", known_breach="without namespaces the machine's name is everybody's", breached=("landlock",))
def n_host_name(model, dataset):
    """Reads the machine's name. A sandbox has a name of its own."""
    if "@HOST@" in (socket.gethostname(), os.uname().nodename):
        print("BREACH: the machine's name")


@expected("OK")
def n_interfaces(model, dataset):
    """Lists network interfaces, and connections of the machine."""
    for directory in ("/proc/net", "/proc/self/net", f"/proc/self/task/{os.getpid()}/net"):
        try:
            devices = [line.split(":")[0].strip() for line in open(f"{directory}/dev").readlines()[2:]]
            listed = "@TOKEN@" in open(f"{directory}/unix").read()
        except OSError:
            continue
        if set(devices) - {"lo"}:
            print(f"BREACH: {devices}")
        if listed:
            print("BREACH: the machine's sockets are listed")


@expected("OK")
def n_io_uring(model, dataset):
    """Makes an io_uring, whose operations bypass every system-call filter."""
    call_all({"io_uring_setup": lambda: LIBC.syscall(425, 8, ctypes.create_string_buffer(256))})


@expected("EXCEPTION", "FORBIDDEN", "CRASH", "TIMEOUT", runtime="torch")
def n_process_group(model, dataset):
    """Opens a process group of PyTorch, which listens on a port for other machines."""
    store = torch.distributed.TCPStore("0.0.0.0", 29511, is_master=True, wait_for_workers=False)
    print(f"BREACH: listening on {store.port}")


@expected("OK")
def n_socket_families(model, dataset):
    """Makes sockets of every family and type. Only AF_UNIX is allowed, and the network namespace is empty."""
    for family in range(2, 48):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            for protocol in (0, 1, 16):
                attempt(f"{family}, {kind}, {protocol}", lambda: socket.socket(family, kind, protocol).close())
