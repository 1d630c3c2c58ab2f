"""Files: too many, too large, or in places that last."""

import itertools
import mmap
import os
import sys

from attack_suite import expected
from tools import LIBC, attempt, until_refused


@expected("OK", "TIMEOUT", under_landlock=("OUTPUT",))  # what is too deep to be looked at is too much
def g_deep_directories(model, dataset):
    """Nests directories so deep that a careless removal would fail. Unmounting removes the scratch space."""
    for _ in range(5000):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)


SCRATCH = os.environ["TMPDIR"]


def fill(place, bound=256 << 20, opened=lambda descriptor, path: None):
    """Write files of 32 MiB until writing fails; print BREACH if they exceed `bound`."""
    total, chunk = 0, b"x" * (1 << 20)
    try:
        for number in range(200):
            path = f"{place}/{number}"
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
            opened(descriptor, path)
            total += sum(os.write(descriptor, chunk) for _ in range(32))
            os.close(descriptor)
    except OSError:
        pass
    if total > bound:
        print(f"BREACH: {total >> 20} MiB in {place}")


@expected("OUTPUT", under_landlock=("OUTPUT", "TIMEOUT"))  # the latter where the disk is slow
def g_inode_flood(model, dataset):
    """Makes empty files until it is stopped: each takes kernel memory, and removing them delays the sandbox's end."""
    for number in range(300_000):
        try:
            os.close(os.open(f"{SCRATCH}/{number}", os.O_CREAT | os.O_WRONLY))
        except OSError:
            break


def hide(descriptor, path):
    """Remove an open file, and map it: Python's own maps would keep a descriptor."""
    os.unlink(path)
    LIBC.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)


@expected("OK", under_landlock=("OUTPUT",))  # it is written after all, to a watched directory
def g_reserves_disk(model, dataset):
    """Reserves disk space without writing it, so fast that the disk is full before the harness measures again."""
    reserved = 0
    try:
        for number in range(200):
            descriptor = os.open(f"{SCRATCH}/{number}", os.O_CREAT | os.O_WRONLY)
            os.posix_fallocate(descriptor, 0, 128 << 20)
            reserved += 128
    except OSError:
        pass
    if reserved > 2048:
        print(f"BREACH: {reserved} MiB")


@expected("OK")
def g_sparse_file(model, dataset):
    """Makes a sparse file of a terabyte. RLIMIT_FSIZE bounds the length of a file."""
    descriptor = os.open(f"{SCRATCH}/sparse", os.O_CREAT | os.O_RDWR)
    for action in (lambda: os.ftruncate(descriptor, 1 << 40), lambda: os.pwrite(descriptor, b"x", 1 << 40)):
        attempt("a file of a terabyte", action)


ALLOWED = (SCRATCH, "/dev/shm") if SCRATCH == "/tmp" else (SCRATCH,)  # the machine's own may lie beside it
GUESSED = ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock", f"/run/user/{os.getuid()}", "/var/crash",
           "@TASK@", "@CACHE@", "@CACHE@/staged", os.path.dirname(SCRATCH), sys.prefix)  # fmt: skip


@expected("OK")
def g_writable_places(model, dataset):
    """Looks for writable places outside of the scratch space, and for a writable place without a limit."""
    for directory, directories, _ in itertools.chain(os.walk("/"), ((place, [], []) for place in GUESSED)):
        if directory.startswith(("/proc", "/usr/share", "/usr/lib")):
            directories.clear()
        elif os.access(directory, os.W_OK) and not directory.startswith(ALLOWED):
            attempt(f"wrote to {directory}", lambda: os.close(os.open(f"{directory}/left", os.O_CREAT | os.O_WRONLY)))
        if directory.count("/") > 3:
            directories.clear()
    try:
        mounts = list(open("/proc/self/mounts"))
    except OSError:
        return
    for line in mounts:
        _, place, kind, options, *_ = line.split()
        if kind == "tmpfs" and "rw" in options.split(","):
            state = os.statvfs(place)
            if state.f_frsize * state.f_blocks > 256 << 20:
                print(f"BREACH: {place} has no small bound")


#: Name, outcomes, action, and reason. Under Landlock, scratch space is a watched directory on the disk.
ROWS = [
    ("g_descriptors", "OK", until_refused(1025, lambda: os.open("/dev/null", os.O_RDONLY)),
     "Opens files until it is refused. RLIMIT_NOFILE bounds their number."),
    ("g_fill_scratch", expected("OK", under_landlock=("OUTPUT",)), fill(SCRATCH) or fill("/dev/shm", 64 << 20),
     "Fills /tmp and /dev/shm. Both are small file systems in memory, not on the machine's disk."),
    ("g_hidden_directory", expected("OK", under_landlock=("OUTPUT",)),
     os.mkdir(f"{SCRATCH}/hidden", 0o300) or fill(f"{SCRATCH}/hidden"),
     "Fills the scratch space below a directory that cannot be listed."),
    ("g_mapped_files", expected("OK", under_landlock=("OUTPUT",)), fill(SCRATCH, opened=hide),
     "Fills the scratch space with files that have no name and no descriptor: removed, closed, but still mapped."),
    ("g_removed_files", expected("OK", under_landlock=("OUTPUT",)),
     fill(SCRATCH, opened=lambda descriptor, path: (os.unlink(path), os.dup(descriptor))),
     "Fills the scratch space with open files that it has removed: no directory lists them."),
]  # fmt: skip
