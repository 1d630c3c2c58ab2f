"""Traces of earlier calls, and of calls at the same time."""

import builtins
import ctypes
import fcntl
import mmap
import os
import select
import socket
import struct
import sys
import time

import jax
import keras
import numpy as np
import tensorflow as tf
import torch
from attack_suite import expected
from tools import LIBC, attempt, call_all, data_directory


@expected("OK")
def r_access_times(model, dataset):
    """Marks files that all calls share by reading them. Read-only mounts record no access times."""
    for path in (f"{data_directory()}/labels.npy", __file__, f"{sys.prefix}/pyvenv.cfg"):
        if not os.path.exists(path):
            continue
        before = os.stat(path)
        time.sleep(0.02)
        open(path, "rb").read()
        after = os.stat(path)
        if (before.st_atime_ns, before.st_ctime_ns) != (after.st_atime_ns, after.st_ctime_ns):
            print(f"BREACH: {path} remembers that it was read")


SO_COOKIE, IO_SETUP, USTAT = 57, 206, 136


@expected("OK")
def r_counters_by_calls(model, dataset):
    """Requests counters of the whole machine from the kernel: load, free memory, socket cookies, contexts of I/O."""
    told, context = ctypes.create_string_buffer(512), ctypes.c_ulong(0)
    calls = {"sysinfo": lambda: LIBC.sysinfo(told)}
    if os.uname().machine == "x86_64":
        calls["io_setup"] = lambda: LIBC.syscall(IO_SETUP, 16, ctypes.byref(context))
        calls["ustat"] = lambda: LIBC.syscall(USTAT, os.stat("/usr").st_dev, told)
    call_all(calls)
    unconnected = socket.socket(socket.AF_UNIX)
    attempt("the cookie of a socket", lambda: unconnected.getsockopt(socket.SOL_SOCKET, SO_COOKIE, 8))


def files():
    """Yield the paths of all files below /proc that belong to no process."""
    try:
        names = [name for name in os.listdir("/proc") if not name.isdigit() and not os.path.islink(f"/proc/{name}")]
    except OSError:  # some that are known, where there is no list
        names = ["stat", "vmstat", "meminfo", "loadavg", "uptime", "diskstats", "interrupts", "softirqs", "pressure"]
        names += [f"sys/fs/{name}" for name in ("dentry-state", "inode-nr", "inode-state", "file-nr", "aio-nr")]
    for name in names:
        yield f"/proc/{name}"
        for directory, _, below in os.walk(f"/proc/{name}"):
            yield from (f"{directory}/{file}" for file in below)


def contents():
    found = {}
    for path in files():
        try:
            with open(path, "rb") as file:
                found[path] = file.read(1 << 16)
        except OSError:
            pass
    return found


@expected("OK")
def r_counters_in_files(model, dataset):
    """Searches /proc, except the directories of processes, for files that the call changes and a later call could read.

    Reads every file twice, and between both readings does something of every kind that a kernel counts.
    """
    before = contents()
    held = [np.ones(1 << 22), [os.pipe() for _ in range(100)]]
    held += [socket.socketpair() for _ in range(20)] if before else []  # there are none where there are no files
    for number in range(200):
        open(f"{os.environ['TMPDIR']}/{number}", "w").close()
    if os.fork() == 0:
        os._exit(0)
    time.sleep(0.3)
    for path, content in contents().items():
        if content != before.get(path, content):
            print(f"BREACH: {path} changed while {len(held)} things were held")


EXT4_SETVERSION, FS_GETVERSION, MARK = 0x40086604, 0x80087601, struct.pack("q", 4711)


@expected("OK")
def r_file_versions(model, dataset):
    """Stores a number in the inode of a file that a later call shares, through a read-only descriptor."""
    with open(__file__, "rb") as shared:
        for request in (EXT4_SETVERSION, FS_GETVERSION):
            try:
                if fcntl.ioctl(shared, request, MARK) == MARK:
                    print(f"BREACH: {request:x}")
            except OSError:
                pass


F_GET_RW_HINT, F_SET_RW_HINT, SHORT = 1035, 1036, struct.pack("Q", 2)


@expected("OK", twice=True)
def r_hints(model, dataset):
    """Sets write-lifetime hints on files that a later call shares. Setting a hint needs no write permission."""
    for path in (f"{data_directory()}/labels.npy", os.__file__, f"{sys.prefix}/pyvenv.cfg"):
        if not os.path.exists(path):
            continue
        with open(path, "rb") as shared:
            for what, command in (("read", F_GET_RW_HINT), ("set", F_SET_RW_HINT)):
                try:
                    hint = fcntl.fcntl(shared, command, SHORT)
                except OSError:
                    continue
                if hint == SHORT:
                    print(f"BREACH: {what} a hint of {path}")


@expected(
    "OK",
    twice=True,
    known_breach="the kernel numbers pipes and sockets over the whole machine, and tells the number of each",
)
def r_inode_numbers(model, dataset):
    """Infers from the inode number of a new pipe how many pipes and sockets the machine has created."""
    first = os.fstat(os.pipe()[0]).st_ino
    for _ in range(5000):
        for end in os.pipe():
            os.close(end)
    if os.fstat(os.pipe()[0]).st_ino != first:
        print("BREACH: a number that others can read moves on")


@expected("OK", twice=True)
def r_left_files(model, dataset):
    """Leaves marks in every scratch place, and looks for marks of an earlier call. Each call has new scratch places."""
    submission = os.path.dirname(__file__)
    for place in {"/tmp", "/dev/shm", "/var/tmp", "/run", "/dev/mqueue", os.environ["TMPDIR"], submission}:
        if os.path.exists(f"{place}/mark"):
            print(f"BREACH: a mark in {place}")
        try:
            os.close(os.open(f"{place}/mark", os.O_CREAT | os.O_WRONLY))
        except OSError:
            pass


def mark(*holders):
    """Print BREACH for each object that has a mark, then mark all objects."""
    for holder in holders:
        if "mark" in vars(holder):
            print(f"BREACH: a mark in {holder}")
        holder.mark = True


@expected("OK", runtime="tensorflow", twice=True)
def r_left_globals(model, dataset):
    """Leaves marks in modules, the environment and the interpreter, and looks for marks of an earlier call."""
    mark(builtins, os, np, tf, tf.keras.layers.Dense, type(model))
    if "MARK" in os.environ:
        print("BREACH: a mark in the environment")
    os.environ["MARK"] = "1"


@expected("OK", runtime="jax", twice=True)
def r_left_in_jax(model, dataset):
    """Leaves marks in JAX and Keras, and looks for marks of an earlier call."""
    mark(jax, jax.numpy, keras, keras.layers.Dense, type(model), type(dataset))
    if jax.config.jax_enable_x64 or jax.config.jax_compilation_cache_dir:
        print("BREACH: a setting of an earlier call")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_compilation_cache_dir", os.environ["HOME"])
    return float(jax.jit(lambda x: x + 1.0)(0.0))


IPC_CREAT = 0o1000


@expected("OK", twice=True)
def r_left_in_kernel(model, dataset):
    """Leaves marks in the kernel: queues, keyrings, abstract sockets. Each is refused, or belongs to the namespace."""
    calls = {
        "shmget": lambda: LIBC.shmget(4711, 4096, IPC_CREAT | 0o666),
        "msgget": lambda: LIBC.msgget(4711, IPC_CREAT | 0o666),
        "semget": lambda: LIBC.semget(4711, 1, IPC_CREAT | 0o666),
        "mq_open": lambda: LIBC.syscall(240, b"mark", 0o102, 0o666, None),
        "add_key": lambda: LIBC.syscall(248, b"user", b"mark", b"x", 1, -4),
        "keyctl": lambda: LIBC.syscall(250, 0, -4, 0),
        "request_key": lambda: LIBC.syscall(249, b"user", b"mark", None, -4),
    }
    call_all(calls)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("\0mark")
    except PermissionError:
        pass
    except OSError:
        print("BREACH: a socket of another call")


@expected("OK", runtime="torch", twice=True)
def r_left_in_torch(model, dataset):
    """Leaves marks in PyTorch and Keras, and looks for marks of an earlier call."""
    mark(torch, torch.nn.Module, torch.Tensor, keras, keras.layers.Dense, type(model), type(dataset))
    if torch.get_default_dtype() is not torch.float32:
        print("BREACH: a setting of an earlier call")
    torch.set_default_dtype(torch.float64)


F_OFD_GETLK = 36


@expected("OK")
def r_locks(model, dataset):
    """Looks for other processes' locks on files that all sandboxes share: they could carry messages between calls."""
    with open(os.__file__, "rb") as shared:
        try:
            fcntl.flock(shared, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            print("BREACH: a lock of another process")
        except OSError:
            pass
        for question in (fcntl.F_GETLK, F_OFD_GETLK):
            try:
                answer = fcntl.fcntl(shared, question, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            except OSError:
                continue
            if struct.unpack_from("h", answer)[0] != fcntl.F_UNLCK:
                print("BREACH: a lock of another process on a part of a file")


LEFT = b"left"


def arrays(dataset):
    if hasattr(dataset, "tensors"):
        return [tensor.numpy() for tensor in dataset.tensors]
    return list(getattr(dataset, "arrays", ())) or [dataset.inputs, dataset.labels]


@expected("OK", twice=True)
def r_mapped_data(model, dataset):
    """Writes to the training data, which calls share, in every way, and looks for changes by an earlier call."""
    inputs, _ = arrays(dataset)
    address, path = inputs.ctypes.data, "/job/data/inputs.npy"
    if LEFT in inputs.tobytes() or (os.path.exists(path) and LEFT in open(path, "rb").read()):
        print("BREACH: a mark in the training data")
    inputs.reshape(-1).view("u1")[:4] = bytearray(LEFT)
    ctypes.memmove(address + 4, LEFT, 4)
    protect = LIBC.mprotect
    protect(ctypes.c_void_p(address & -4096), 4096, 7)
    for file, place in (("/proc/self/mem", address + 8), (path, 128), (f"/proc/self/map_files/{address:x}", 0)):
        try:
            descriptor = os.open(file, os.O_RDWR)
            os.pwrite(descriptor, LEFT, place)
            os.fsync(descriptor)
        except OSError:
            pass
    if LEFT not in inputs.tobytes():
        print("BREACH: nothing was written, so nothing was tried")


MADV_MERGEABLE, PR_SET_MEMORY_MERGE = 12, 67


@expected("OK")
def r_merged_pages(model, dataset):
    """Requests that the kernel merge equal pages of all processes: calls could learn each other's content from this."""
    own = mmap.mmap(-1, 1 << 16, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    attempt("madvise", lambda: own.madvise(MADV_MERGEABLE))
    call_all({"prctl": lambda: LIBC.prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0)})


CACHESTAT, MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE, PAGE = 451, 20, 21, 25, 4096
RWF_NOWAIT = 8


@expected("OK")
def r_page_cache(model, dataset):
    """Looks up which parts of shared files are in the page cache: an earlier call may have read them.

    System calls that query or change the page cache are refused. A call can still see a read's time and page faults.
    """
    LIBC.readahead.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_size_t]
    pages, answer = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    for path in (os.__file__, sys.executable):
        shared = os.open(path, os.O_RDONLY)
        address = LIBC.mmap(None, PAGE, mmap.PROT_READ, mmap.MAP_SHARED, shared, 0)
        calls = {
            "preadv2": lambda: os.preadv(shared, [bytearray(PAGE)], 0, RWF_NOWAIT),
            "cachestat": lambda: LIBC.syscall(CACHESTAT, shared, pages, answer, 0),
            "mincore": lambda: LIBC.mincore(address, PAGE, pages),
            "readahead": lambda: LIBC.readahead(shared, 0, PAGE),
            **{f"fadvise {advice}": lambda a=advice: os.posix_fadvise(shared, 0, PAGE, a) for advice in (2, 3, 4)},
            **{
                f"madvise {advice}": lambda a=advice: LIBC.madvise(address, PAGE, a)
                for advice in (MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE)
            },
        }
        for name, call in calls.items():
            try:
                if (call() or 0) >= 0:
                    print(f"BREACH: {name}")
            except BlockingIOError:
                print(f"BREACH: {name} says that it is not in memory")
            except OSError:
                pass


@expected(
    "OK",
    twice=True,
    known_breach="without namespaces process numbers are the machine's",
    breached=("landlock", "platform"),
)
def r_process_numbers(model, dataset):
    """Infers the number of earlier processes from the ID of a new process. In each call, IDs start at 1."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    if child > 500:
        print(f"BREACH: process {child}")


IN_OPEN = 0x20


@expected("OK")
def r_watches(model, dataset):
    """Watches files that all sandboxes share, to see when concurrent calls open them."""
    events = LIBC.inotify_init1(os.O_NONBLOCK)
    if events < 0 or LIBC.inotify_add_watch(events, os.__file__.encode(), IN_OPEN) < 0:
        return
    if select.select([events], [], [], 1.0)[0]:
        print("BREACH: another process opened a file")
