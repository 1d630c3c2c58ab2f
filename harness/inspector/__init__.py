"""What runs in the process that reads a submission: no code of the participant's, and nothing without a bound.

Like `harness.worker` it imports nothing of the rest of `harness`. It starts in the time that Python needs, because
each submission has a process of its own.
"""
