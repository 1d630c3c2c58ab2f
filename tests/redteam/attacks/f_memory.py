"""Memory beyond the limit, in places where the harness might not count it."""

import ctypes
import fcntl
import mmap
import os
import platform
import signal
import socket
import threading
import time

import jax.numpy as jnp
import numpy as np
import tensorflow as tf
import torch
from attack_suite import expected
from tools import LIBC, attempt


def hoard(number, piece):
    """Hold pieces of 4 MiB."""
    held = [piece(n) for n in range(number)]
    print(f"BREACH: {len(held) << 2} MiB")


def hoard_in_children(children, numbers):
    """Start processes that hold arrays, and wait."""
    for _ in range(children):
        if os.fork() == 0:
            held = np.ones(numbers)
            time.sleep(1000)
            os._exit(int(held[0]))
    time.sleep(1000)


PR_SET_NAME, PR_SET_DUMPABLE = 15, 4
SIZE, PIECE = 992 << 20, 16 << 20


def drop_pages(shared):
    """Fill a mapping, and drop its pages."""
    for start in range(0, SIZE, PIECE):
        shared[start : start + PIECE] = b"x" * PIECE
        shared.madvise(mmap.MADV_DONTNEED, start, PIECE)
    time.sleep(0.5)
    print(f"BREACH: {SIZE >> 20} MiB in a mapping without resident pages", flush=True)


EXIT = {"x86_64": 60, "aarch64": 93}.get(platform.machine(), 60)  # ends a thread, not its process


def hoard_slowly():
    time.sleep(0.1)
    held = np.ones(112 << 20)
    time.sleep(0.5)
    print(f"BREACH: {held.nbytes >> 20} MiB behind an ended thread", flush=True)
    time.sleep(1000)


@expected("MEMORY", "TIMEOUT")  # the latter where the machine is slow
def f_ended_thread(model, dataset):
    """Hoards memory in a process whose first thread has ended, so that the process seems to have no memory."""
    if os.fork() == 0:
        threading.Thread(target=hoard_slowly).start()
        LIBC.syscall(EXIT, 0)
    while True:
        time.sleep(1)


@expected("OK")
def f_locks(model, dataset):
    """Locks single bytes of files, as many as it can: each lock takes kernel memory. Locking is refused."""
    with open(f"{os.environ['TMPDIR']}/locked", "w") as file:
        locked = 0
        try:
            for byte in range(0, 20_000, 2):
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
                locked += 1
        except OSError:
            pass
    if locked:
        print(f"BREACH: {locked} locks")


@expected("MEMORY", "TIMEOUT")  # the latter where the machine is slow
def f_numpy(model, dataset):
    """Hoards NumPy arrays and swallows MemoryError."""
    hoard = []
    for _ in range(256):
        try:
            hoard.append(np.ones(1 << 20))
        except MemoryError:
            pass
    print("BREACH: 2 GiB")


@expected("MEMORY", "TIMEOUT")  # the latter where the machine is slow
def f_orphan(model, dataset):
    """Hoards memory in a daemon whose parent has ended. PID 1 of the namespace adopts the daemon, so it is measured."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            held = [np.ones(1 << 20) for _ in range(256)]
            print(f"BREACH: {len(held) << 3} MiB")
        os._exit(0)
    while True:
        time.sleep(1)


WIDE, STEP, MAP_NORESERVE = 640 << 30, 2 << 20, 0x4000


@expected("MEMORY", "TIMEOUT")  # the latter where the machine is slow
def f_page_tables(model, dataset):
    """Reads one byte of every 2 MiB of a huge empty mapping: no page becomes resident, but each needs a page table."""
    start = LIBC.mmap(None, WIDE, mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    LIBC.madvise(start, WIDE, mmap.MADV_NOHUGEPAGE)
    for piece in range(start, start + WIDE, 1 << 30):
        (ctypes.c_char * (1 << 30)).from_address(piece)[::STEP]
    time.sleep(0.5)
    tables = next(line for line in open("/proc/self/status") if line.startswith("VmPTE"))
    print(f"BREACH: {tables}", flush=True)


LIMIT = 900 << 20


@expected("OK")
def f_pipes(model, dataset):
    """Keeps memory in full pipes. The limit on descriptors and the kernel's quota per user bound this memory."""
    held, pipes = 0, []
    try:
        while held < LIMIT:
            pipes.append(os.pipe())
            os.set_blocking(pipes[-1][1], False)
            held += os.write(pipes[-1][1], b"x" * (1 << 20))
    except OSError:
        return
    print("BREACH: the memory limit in pipes")


@expected("FORBIDDEN")
def f_shared_mapping(model, dataset):
    """Writes to an anonymous shared mapping, which RLIMIT_DATA does not count. The mapping is refused."""
    chunk = b"x" * (1 << 20)
    shared = mmap.mmap(-1, 2 << 30)
    for _ in range(2 << 10):
        shared.write(chunk)
    print("BREACH: 2 GiB shared")


CLONE, CLONE_PARENT = {"x86_64": 56, "aarch64": 220}.get(platform.machine(), 56), 0x8000


@expected("OK", "MEMORY")
def f_sibling_process(model, dataset):
    """Hoards memory in a sibling: CLONE_PARENT makes it a child of the worker's parent, outside of the sandbox."""
    child = ctypes.PyDLL(None).syscall(CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        held = np.ones(92 << 20)
        time.sleep(0.5)
        print(f"BREACH: {held.nbytes >> 20} MiB in a sibling", flush=True)
        os._exit(0)
    time.sleep(2.7 if child > 0 else 0)


CHILDREN = 7
TOO_MUCH = 660 << 20  #: with the 250 MiB and more of the worker itself, over the limit


def fill_sockets(report):
    held, pairs = 0, []
    try:
        while True:
            pairs.append(socket.socketpair())
            pairs[-1][0].setblocking(False)
            try:
                while True:
                    held += pairs[-1][0].send(b"x" * (1 << 16))
            except BlockingIOError:
                pass
    except OSError:  # no more descriptors
        pass
    os.write(report, held.to_bytes(8, "little"))
    time.sleep(1000)


@expected("OK", "MEMORY")
def f_sockets(model, dataset):
    """Keeps memory in the queues of socket pairs, in several processes: kernel memory that belongs to no process."""
    answer, report = os.pipe()
    for _ in range(CHILDREN):
        if os.fork() == 0:
            fill_sockets(report)
    total = sum(int.from_bytes(os.read(answer, 8), "little") for _ in range(CHILDREN))
    if total > TOO_MUCH:
        print(f"BREACH: {total >> 20} MiB in socket queues")


HUGE, ROUNDS, SLOTS = 2 << 20, 32, 16


class Piece(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@expected("OK")
def f_spliced_pages(model, dataset):
    """Lends pages to pipes and unmaps them: four bytes in a pipe keep a page of 2 MiB. Lending is refused."""
    LIBC.vmsplice.argtypes = [ctypes.c_int, ctypes.POINTER(Piece), ctypes.c_ulong, ctypes.c_uint]
    size, pipes, lent = (SLOTS + 1) * HUGE, [], 0
    for _ in range(ROUNDS):
        pipes.append(os.pipe())
        start = LIBC.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        LIBC.madvise(start, size, mmap.MADV_HUGEPAGE)
        first = -(-start // HUGE) * HUGE
        for page in range(first, first + SLOTS * HUGE, HUGE):
            ctypes.memset(page, 1, 1)
            lent += LIBC.vmsplice(pipes[-1][1], ctypes.byref(Piece(page, 4)), 1, 0) == 4
        LIBC.munmap(start, size)
    if lent:
        time.sleep(0.5)
        print(f"BREACH: {lent * HUGE >> 20} MiB in pipes", flush=True)


#: Name, outcomes, action, and reason. The outcome TIMEOUT is for slow machines.
ROWS = [
    ("f_arrays_of_jax", expected("MEMORY", "TIMEOUT", runtime="jax"),
     hoard(512, lambda n: (jnp.ones(1 << 20) * n).block_until_ready()),
     "Hoards arrays of JAX, which Python's allocator does not count."),
    ("f_children", ("MEMORY", "TIMEOUT"), hoard_in_children(16, 8 << 20),
     "Spreads memory over children, each far below the limit. The harness measures all processes together."),
    ("f_emptied_mapping", "FORBIDDEN", drop_pages(mmap.mmap(-1, SIZE)),
     "Fills an anonymous shared mapping and drops its pages from the page tables: the kernel keeps the pages. "
     "Shared memory without a file is refused."),
    ("f_hides_memory", ("MEMORY", "TIMEOUT"),
     (LIBC.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), hoard_in_children(8, 24 << 20)),
     "Makes its memory undumpable to hide it, and hoards. The size of such a process can still be read."),
    ("f_lists", ("MEMORY", "TIMEOUT"), hoard(512, lambda n: bytes([1]) * (4 << 20)),
     "Hoards Python objects. The harness measures memory from outside of the process."),
    ("f_mapped_zeros", "FORBIDDEN", drop_pages(mmap.mmap(os.open("/dev/zero", os.O_RDWR), SIZE)),
     "Maps /dev/zero as shared, which gives shared memory without a file; the memory's pages need not be resident."),
    ("f_memfd", "OK", attempt("memfd_create", lambda: os.memfd_create("hoard")),
     "Keeps memory in anonymous files that no process maps. Without a GPU, memfd_create is refused."),
    ("f_names_of_bytes", ("MEMORY", "TIMEOUT"),
     (LIBC.prctl(PR_SET_NAME, b"\xff\x0cNSpid:\t1"), hoard_in_children(16, 8 << 20)),
     "Gives its processes names that are no text. The harness must still measure them, and the run must go on."),
    ("f_shared_tensors",  # a full /dev/shm is SIGBUS on the first touch
     expected("EXCEPTION", "CRASH", "MEMORY", "OUTPUT", "FORBIDDEN", runtime="torch"),
     hoard(256, lambda n: torch.full((1 << 20,), float(n)).share_memory_()),
     "Hoards tensors in shared memory, as PyTorch's worker processes do: files in /dev/shm, whose size is bounded."),
    ("f_tensors", expected("MEMORY", "TIMEOUT", runtime="tensorflow"),
     hoard(512, lambda n: tf.ones([1 << 20]) * float(n)),
     "Hoards tensors of TensorFlow, which Python's allocator does not count."),
    ("f_tensors_of_torch", expected("MEMORY", "TIMEOUT", runtime="torch"),
     hoard(512, lambda n: torch.ones(1 << 20) * n),
     "Hoards tensors of PyTorch, which Python's allocator does not count."),
]  # fmt: skip
