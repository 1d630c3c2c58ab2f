"""What runs inside the sandbox: loads one model and its data, calls one measure, reports one float.

This package is copied alone into the sandbox; it imports nothing of the rest of `harness`.
"""
