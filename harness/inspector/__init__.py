"""The code of the process that reads a submission: it never runs the participant's code, and every step is bounded.

Like `harness.worker`, it imports nothing else of `harness`. It adds little to the start of Python, because each
submission is read in its own process.
"""

#: Modules for other rooms.
MODULES = ("answer", "files", "keys", "limits")
