"""Computes measures in a separate process, on a network and data in the file formats of a worker.

A question to this process is `{"model": DIRECTORY, "data": DIRECTORY, "measures": [NAME, ...]}`; the answer is
`{"rows": [...]}` with the rows of `pgdl.measures`. A question without `measures` requests the network's outputs
(`harness.processes.accuracies`).
"""

from pathlib import Path

from harness.api.library import measures
from harness.processes.accuracies import write_outputs
from harness.processes.models import Answer, Question, faults_of_the_model, of_models
from harness.worker.runtimes import Runtime


def answer(runtime: Runtime, question: Question) -> Answer:
    """Compute the requested measures. If the question names no measures, write the network's outputs, and return {}."""
    with faults_of_the_model():
        model = runtime.load_model(Path(question["model"]))
        if "measures" not in question:
            write_outputs(runtime, model, question)
            return {}
    return {"rows": measures(model, runtime.load_dataset(Path(question["data"])), question["measures"])}


prepare = of_models(answer)
