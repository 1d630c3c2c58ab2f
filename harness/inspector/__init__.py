"""The code of the process that reads a submission: it never runs the participant's code, and every step is bounded.

Like `harness.worker`, this room imports no other part of `harness`. Its imports are few and fast, because each
submission is read in a process of its own.
"""

#: Modules for other rooms.
MODULES = ("answer", "files", "keys", "limits")
