"""Which sandbox works here: found out by running one, not by reading versions."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from harness.errors import UserError
from harness.sandbox import bubblewrap
from harness.sandbox.body import memory_file
from harness.sandbox.isolation import Isolation
from harness.sandbox.landlock import MISSING, landlock_problem
from harness.sandbox.seccomp import filter_program

#: What lets bubblewrap work in a container.
IN_A_CONTAINER = (
    "run the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
    "--security-opt systempaths=unconfined, and as an ordinary user (--user)"
)

#: What mends each way in which bubblewrap fails, by a part of what it prints.
REMEDIES = (
    (
        "setting up uid map: Permission denied",
        "allow it in AppArmor: apt-get install apparmor-profiles, copy "
        "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d, load it with apparmor_parser -r "
        "(on a CI runner: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0)",
    ),
    (
        "Failed RTM_NEWADDR",
        "on Ubuntu allow it in AppArmor (on a CI runner: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0); "
        f"in a container, {IN_A_CONTAINER}",
    ),
    (
        "No permissions to create",
        f"allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1; or, in a container, {IN_A_CONTAINER}",
    ),
    ("Can't mount proc", IN_A_CONTAINER),
    ("Can't set hostname", IN_A_CONTAINER),
    ("Unknown option", "install bubblewrap 0.8 or newer"),
)


def choose_isolation(warn: Callable[[str], None]) -> Isolation:
    """What to isolate calls by if nobody says: bubblewrap, or Landlock where that does not work.

    `warn` is told why it is Landlock, and what that does not promise.
    Raises `UserError` with the reasons, and the command that mends the first, where neither works.
    """
    problem = sandbox_problem()
    if problem is None:
        return Isolation.BUBBLEWRAP
    reason = landlock_problem()
    if reason is not None:
        remedy = "or, for your own code only, --unsafe-no-sandbox"
        raise UserError(f"{problem}; nor does Landlock do instead: {reason}", remedy=remedy)
    warn(f"{problem}")
    warn("calls are isolated by Landlock instead, which promises less (pgdl doctor shows both):")
    for guarantee in MISSING:
        warn(f"  {guarantee}")
    return Isolation.LANDLOCK


def require(problem: UserError | None) -> None:
    """Raise what is wrong with a sandbox, if anything."""
    if problem is not None:
        raise problem


def sandbox_problem() -> UserError | None:
    """Make an empty sandbox with every namespace, mount and filter that calls get; None if that works."""
    try:
        if os.geteuid() == 0 and shutil.which("setpriv") is None:
            return UserError("setpriv is not installed", remedy="install util-linux, e.g. apt-get install util-linux")
        program = bubblewrap.executable()
        options, wrapper = bubblewrap.trial()
        seccomp = memory_file(filter_program(gpu=False))
    except UserError as error:
        return error
    command = [program, *options, "--seccomp", str(seccomp), "--", *wrapper, "/bin/true"]
    try:
        done = subprocess.run(command, env={}, capture_output=True, text=True, timeout=30, pass_fds=(seccomp,))
    except subprocess.TimeoutExpired:
        return UserError("the sandbox does not work here: bubblewrap did not end within 30 s")
    finally:
        os.close(seccomp)
    if done.returncode == 0:
        return None
    reason = " ".join(done.stderr.split())[-300:] or f"exit status {done.returncode}"
    remedy = next((remedy for sign, remedy in REMEDIES if sign in reason), "see docs/sandbox.md")
    return UserError(f"the sandbox does not work here: {reason}", remedy=remedy)


def main() -> None:
    """Exit with 0 if some sandbox works here; otherwise print why not and what mends it, and exit with 2."""
    try:
        choose_isolation(warn=lambda _: None)
    except UserError as problem:
        print(problem)
        sys.exit(2)


if __name__ == "__main__":
    main()
