"""Installs into a new directory the packages that tests/gpu/pack collected; nothing else on the machine changes."""

import io
import os
import platform
import shutil
import site
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

#: Directories of a Debian package with libraries, below the directory into which it was unpacked.
LIBRARIES = ("lib", "usr/lib", "lib/{machine}-linux-gnu", "usr/lib/{machine}-linux-gnu")

#: The loader of each architecture, which also takes the place of LD_LIBRARY_PATH for the unpacked programs: the sandbox
#: starts with an empty environment.
LOADERS = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}

WRAPPER = '#!/bin/sh\nexec {loader} --library-path {libraries} {program} "$@"\n'


def make_environment(directory: Path, wheels: Path) -> Path:
    """Make a virtual environment on top of the running interpreter's, install the wheels, and return its Python.

    If this interpreter belongs to a virtual environment, a .pth file adds the packages of that environment.
    """
    shutil.rmtree(directory, ignore_errors=True)
    flags = ["--without-pip", "--system-site-packages"]
    subprocess.run([sys.executable, "-m", "venv", *flags, directory], check=True)
    python = directory / "bin" / "python"
    packages = directory / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    beneath = [path for path in site.getsitepackages() if Path(path).is_dir()] if sys.prefix != sys.base_prefix else []
    (packages / "beneath.pth").write_text("".join(f"{path}\n" for path in beneath))
    (pip,) = wheels.glob("pip-*.whl")
    others = [wheel for wheel in wheels.glob("*.whl") if wheel != pip]
    install = ["install", "--quiet", "--no-index", "--no-deps", "--ignore-installed", "--no-warn-script-location"]
    subprocess.run([python, pip / "pip", "--disable-pip-version-check", *install, *others], check=True)
    return python


def unpack_programs(debs: Path, directory: Path) -> Path:
    """Unpack Debian packages; return a directory, now on PATH: with `bwrap`, or empty if the machine has `bwrap`."""
    shutil.rmtree(directory, ignore_errors=True)
    system, programs = directory / "system", directory / "bin"
    for path in (system, programs):
        path.mkdir(parents=True)
    for deb in sorted(debs.glob("*.deb")):
        with tarfile.open(fileobj=io.BytesIO(read_data(deb.read_bytes()))) as archive:
            archive.extraction_filter = lambda member, _: member  # the packages are trusted; older Pythons ignore it
            archive.extractall(system)
    machine = platform.machine()
    libraries = [str(system / path.format(machine=machine)) for path in LIBRARIES]
    program, wrapper = system / "usr/bin/bwrap", programs / "bwrap"
    if shutil.which("bwrap") is None and program.exists():
        wrapper.write_text(WRAPPER.format(loader=LOADERS[machine], libraries=":".join(libraries), program=program))
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    return programs


def read_data(deb: bytes) -> bytes:
    """Return the archive `data.tar.*` of a Debian package, which is an `ar` archive."""
    position = 8  # after the magic number
    while position < len(deb):
        name, size = deb[position : position + 16].decode().strip(" /"), int(deb[position + 48 : position + 58])
        start = position + 60
        if name.startswith("data.tar"):
            return deb[start : start + size]
        position = start + size + size % 2
    raise ValueError("not a Debian package: no data.tar in it")
