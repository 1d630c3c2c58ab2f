"""The code of the process that reads a submission. It never runs the participant's code, and every step has a limit.

Like `harness.worker`, this package imports no other part of `harness`. Its imports are few and fast, because each
submission is read in a process of its own.
"""

#: Modules that other packages of `harness` may import.
MODULES = ("answer", "files", "keys", "limits")
