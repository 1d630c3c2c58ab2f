"""Other files of the machine."""

import ctypes
import os
import stat
import sys

from attack_suite import expected
from tools import LIBC, attempt, call_all, processes


@expected("OK")
def o_attributes(model, dataset):
    """Lists the extended attributes of files by their true paths, which are not mounted."""
    for path in ("@TASK@/single/model_0/config.json", "@CACHE@/staged", "/etc/passwd"):
        for follow in (True, False):
            attempt(f"attributes of {path}", lambda: os.listxattr(path, follow_symlinks=follow))


@expected("OK")
def o_file_handles(model, dataset):
    """Opens files by handle instead of by path. That needs a capability, and the system calls are refused."""
    handle = ctypes.create_string_buffer(136)
    ctypes.c_uint.from_buffer(handle).value = 128
    mount = ctypes.c_int()
    calls = {
        "name_to_handle_at": lambda: LIBC.name_to_handle_at(-100, b"/usr", handle, ctypes.byref(mount), 0),
        "open_by_handle_at": lambda: LIBC.open_by_handle_at(-100, handle, 0),
    }
    call_all(calls)


INTERPRETER = (sys.prefix, sys.base_prefix, os.path.realpath(sys.executable))
PATHS = ("@TASK@", "@TASK@/single/model_0/config.json", "@CACHE@", "@CACHE@/staged", "/root", "/home", "/etc/passwd",
         "/etc/shadow", "/etc/hostname", "/var", "/sys", "/run", "/boot")  # fmt: skip


@expected("OK")
def o_guessed_paths(model, dataset):
    """Opens the task, reference data, records and cache by their true paths, and through /proc/*/root and cwd."""
    for root in ("", *(f"/proc/{pid}/{way}" for pid in processes() for way in ("root", "cwd/..", "cwd/../.."))):
        for path in PATHS:
            try:
                entries = os.listdir(root + path) if os.path.isdir(root + path) else open(root + path).readline()
            except OSError:
                continue
            if isinstance(entries, list):  # parents of the interpreter's mount points are there, with nothing else
                entries = [entry for entry in entries if not any(p.startswith(f"{path}/{entry}") for p in INTERPRETER)]
            if entries:
                print(f"BREACH: {root}{path} is {entries}")


STAGED = os.path.dirname(os.path.dirname(__file__)) + "/"


@expected("OK")
def o_inherited_descriptors(model, dataset):
    """Looks through its open descriptors. Only the streams, the control channel, and TensorFlow's own may be open."""
    sockets = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            mode, link = os.fstat(int(name)).st_mode, os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        sockets += stat.S_ISSOCK(mode)
        if stat.S_ISDIR(mode) and not link.startswith("/proc") or "memfd" in link or "pidfd" in link:
            print(f"BREACH: descriptor {name} is {link}")
        if stat.S_ISREG(mode) and not link.startswith((STAGED, "/usr/", "/proc/", sys.prefix, sys.base_prefix)):
            print(f"BREACH: descriptor {name} is {link}")
    if sockets != 1:
        print(f"BREACH: {sockets} sockets")


READ = (
    "/proc/kcore", "/proc/kmsg", "/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/kvm", "/dev/fuse",
    "/proc/1/root/etc/shadow", "/sys/kernel",
)  # fmt: skip
WRITE = (
    "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches",
    "/proc/sys/user/max_user_namespaces", "/proc/sys/fs/binfmt_misc/register", "/proc/self/uid_map",
)  # fmt: skip


@expected("OK")
def o_kernel_files(model, dataset):
    """Opens the kernel's memory, logs and switches, and raw devices."""
    for paths, way in ((READ, os.O_RDONLY), (WRITE, os.O_WRONLY)):
        for path in paths:
            try:
                os.close(os.open(path, way))
            except OSError:
                continue
            if path == "/proc/self/uid_map":
                try:
                    os.write(os.open(path, os.O_WRONLY), b"0 0 1")
                except OSError:
                    continue
            print(f"BREACH: opened {path}")


@expected("OK")
def o_links(model, dataset):
    """Makes links to files outside of the sandbox, and follows them."""
    for number, path in enumerate(("@TASK@/single/model_0/config.json", "../../../../@TASK@", "/proc/1/root/@TASK@")):
        for make in (os.symlink, os.link):
            link = f"{os.environ['TMPDIR']}/link{number}"
            attempt(path, lambda: (make(path, link), os.open(link, os.O_RDONLY)))


@expected("OK", allowed_on_platform=("BREACH: is root",))  # no other user can be made there
def o_root_owned_files(model, dataset):
    """Opens files that only root may read: even if root runs the harness, a worker must not be root outside."""
    if os.getuid() == 0 or os.geteuid() == 0 or 0 in os.getgroups():
        print("BREACH: is root")
    for top in ("/usr/sbin", "/usr/libexec", "/usr/local", "/usr/lib", sys.prefix, os.path.dirname(__file__)):
        for directory, directories, files in os.walk(top):
            if directory.count("/") > 4:
                directories.clear()
            for path in (os.path.join(directory, name) for name in files):
                state = os.lstat(path)
                if state.st_uid == 0 and not state.st_mode & 0o4 and os.access(path, os.R_OK):
                    print(f"BREACH: {path}")


@expected(
    "OK",
    known_breach="Landlock refuses what is in a file and in a directory, not the state of a path",
    breached=("landlock", "platform"),
)
def o_states_of_guessed_paths(model, dataset):
    """Tests by true paths whether files exist, and reads their lengths and times. These files are not mounted."""
    for path in ("@TASK@/single/model_0/config.json", "@CACHE@/staged"):
        if os.path.exists(path):
            print(f"BREACH: {path} has {os.stat(path).st_size} bytes")
