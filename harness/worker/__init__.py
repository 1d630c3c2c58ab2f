"""The code that runs inside the sandbox: loads one model and its data, calls measures, reports one float for each.

Only this package is copied into the sandbox; it imports nothing else of `harness`.
"""

#: Modules for other rooms.
MODULES = ("architecture", "channel", "limits", "runtimes", "scratch")
