"""A trainer that is killed when it trains the first model, as by the kernel of a machine without free memory."""

import os
import signal
from typing import Any

from harness.processes.models import Answer, Program, Question


def prepare(*_arguments: str) -> Program:
    def answer(question: Question, _say: Any) -> Answer:
        if question["job"] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"notes": []}

    return answer
