"""The code that runs inside the sandbox: loads a model and its data, calls measures and reports their values.

Only this package is copied into the sandbox, so it imports nothing else of `harness`.
"""

#: Modules that other rooms may import.
MODULES = ("architecture", "channel", "limits", "runtimes", "scratch")
