"""Becomes root by system calls and by programs with the set-user-id bit."""

import ctypes
import os
import shutil
import subprocess

EXPECT = ("OK",)
ALLOWED_ON_PLATFORM = ("BREACH: changed user or group",)  # to itself: it is root, without capabilities
PR_GET_NO_NEW_PRIVS, PR_CAPBSET_READ = 39, 23


def complexity(model, dataset):
    for call in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]), lambda: os.setresuid(0, 0, 0)):
        try:
            call()
            print("BREACH: changed user or group")
        except OSError:
            pass
    for program in ("su", "mount", "passwd", "newgrp", "sudo"):
        if path := shutil.which(program):
            done = subprocess.run([path, "-c", "id -u"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.stdout.strip() == "0":
                print(f"BREACH: {program} made it root")
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
        print("BREACH: may gain privileges")
    status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
    bounded = ("CapBnd",) if os.environ["TMPDIR"] == "/tmp" else ()  # without a namespace, a user's cannot be lowered
    for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb", *bounded):
        if int(status[kind], 16):
            print(f"BREACH: {kind} is {status[kind].strip()}")
    if status["Seccomp"].strip() != "2":
        print("BREACH: no filter")
    return 1.0
