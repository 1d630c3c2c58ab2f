"""Names and times of the model and the task."""

import json
import os
import re
import sys

from attack_suite import expected


@expected("OK", under_landlock=("FORBIDDEN",))  # mounts are not shown
def s_names_in_mounts(model, dataset):
    """Reads the sources of its mounts, which the kernel shows. The sources are anonymous copies."""
    mounts = open("/proc/self/mountinfo").read() + open("/proc/self/mounts").read()
    for name in ("@TASK@", "single", "model_0", "s_names_in_mounts"):
        if name in mounts:
            print(f"BREACH: {name} in the mounts")
    for source in re.findall(r"\S*/staged/\S+", mounts):
        for path in (source, os.path.dirname(source)):
            if os.path.exists(path):
                print(f"BREACH: {path} is there")


@expected("OK")
def s_names_in_objects(model, dataset):
    """Looks for the model's or task's name in the model, the files, the arguments and the frames above."""
    seen = [repr(sys.argv), repr(sys.orig_argv), repr(dict(os.environ)), os.getcwd(), model.name, repr(sys.path)]
    seen += [layer.name for layer in model.layers]
    seen += [json.dumps(model.get_config(), default=repr), str(dataset)]
    seen += [name for _, directories, files in os.walk(os.path.dirname(__file__)) for name in directories + files]
    frame = sys._getframe()
    while frame := frame.f_back:
        seen.append(repr(frame.f_locals))
    for text in seen:
        for name in ("@TASK@", "single", "model_0", "s_names_in"):
            if name in text:
                print(f"BREACH: {name} in {text[:200]}")


@expected("OK")
def s_times_and_owners(model, dataset):
    """Reads times, owners and inode order of its files. Copies have no meaningful times."""
    for directory, _, files in os.walk(os.path.dirname(__file__)):
        for path in (directory, *(os.path.join(directory, name) for name in files)):
            if os.stat(path).st_mtime != 0:
                print(f"BREACH: {path} has a time")
