"""Samples of every kind of file that a stranger may have written; they need no framework."""

import json
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from PIL import Image

from harness.codabench.results import RECORDS, PhaseResult, write_result
from harness.codabench.settings import PhaseSettings, TaskDigests
from harness.format.architecture import LayerShapes, ModelShapes
from harness.outcome import Outcome
from harness.records import Records
from harness.site import write_site
from harness.submission import Submission
from tests.board.board_examples import references, rows
from tests.ci.repositories import MEASURE
from tests.ci.test_comments import REPORT
from tests.fetch.archives import make_archive
from tests.importer.keras_files import dense, hdf5, network, weights_of, write_keras, write_table
from tests.records.evaluation_rows import evaluation, request
from tests.site.site_examples import make as make_site
from tests.throwaway import make_task, write_json

#: The dense network of the samples: one hidden layer of 4 units.
CELL = {"activation": "relu", "depth": 1, "width": 4}
SHAPES = ModelShapes(
    (
        LayerShapes("Dense", (("kernel", (4, 4)), ("bias", (4,)))),
        LayerShapes("Dense", (("kernel", (4, 3)), ("bias", (3,)))),
    ),
    (3,),
)

METADATA = """name: mine
team: 'The Seven'
description: "a margin"
paper: https://example.org
keras: 2
deterministic: true
other: [1, {a: b}]
"""

RECIPE = """name = "tiny"
[data]
source = "npz"
path = "data.npz"
[architecture]
family = "mlp"
[training]
optimizer = "sgd"
learning_rate = 0.1
batch_size = 4
max_epochs = 2
stop = { cross_entropy = 0.1 }
[grid]
width = [4, 6]
depth = [1, 2]
"""

COMPETITION = """title = "A competition"
image = "logo.png"
terms = "terms.md"
docker_image = "x/y:1"
queue = "6f2c1a4e-0d3b-4c55-9a77-1f0e8b2d9c10"
[[pages]]
title = "Overview"
file = "page.md"
[[phases]]
name = "Feedback"
start = 2027-01-31
end = 2027-02-28T12:00:00
tasks = ["tiny"]
"""


def submission(directory: Path) -> None:
    (directory / "folder").mkdir()
    with zipfile.ZipFile(directory / "submission.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (("metadata", METADATA), ("complexity.py", f"import numpy as np\n\n{MEASURE.format('1.0')}")):
            (directory / "folder" / name).write_text(text)
            archive.writestr(name, text)


def task(directory: Path) -> None:
    """Write a task with the files that mark it as hidden, list its contents and state its origin."""
    make_task(directory, n_models=2, hidden=True, n_shards=1, n_train=6, n_test=3)
    found = {"models": {"model_0": "0" * 64, "model_1": "1" * 64}, "data": "2" * 64, "n_test": 9}
    origin = {
        "source": "a/b", "url": "http://x", "length": 1, "etag": None, "directory_sha256": "0", "models": 1,
        "models_in_archive": 2, "reference_sha256": "0",
        "files": {"model_0/config.json": {"size": 1, "crc32": 2, "sha256": "0" * 64}},
    }  # fmt: skip
    for name, content in (("contents", found), ("fetched", origin)):
        write_json(directory / f"tiny/{name}.json", content)


def keras_graph(directory: Path) -> None:
    """Write the architecture of a functional model with a branch, in Keras' own JSON."""
    layers = [
        _layer("in", [], {"class_name": "InputLayer", "config": {"batch_shape": [None, 4]}}),
        _layer("a", ["in"], dense(4)), _layer("b", ["in"], dense(4)),
        _layer("sum", ["a", "b"], {"class_name": "Add", "config": {}}), _layer("out", ["sum"], dense(3)),
    ]  # fmt: skip
    config = {"name": "f", "layers": layers, "input_layers": [["in", 0, 0]], "output_layers": [["out", 0, 0]]}
    model = {"module": "keras", "class_name": "Functional", "config": config, "registered_name": "Functional"}
    write_json(directory / "config.json", model)


def _layer(name: str, inputs: list[str], layer: Any) -> dict[str, object]:
    histories = [{"shape": [None, 4], "keras_history": [one, 0, 0]} for one in inputs]
    tensors = [{"class_name": "__keras_tensor__", "config": one} for one in histories]
    nodes = [{"args": [tensors] if len(inputs) > 1 else tensors, "kwargs": {}}] if inputs else []
    named = {"name": name, "inbound_nodes": nodes, "config": {"name": name, **layer["config"]}}
    return {"module": "keras.layers", "registered_name": None, **layer, **named}


def models(directory: Path) -> None:
    """Write models in every form that `pgdl task import` reads, and their table."""
    weights = weights_of(1, 4, 0)
    write_keras(directory / "a.keras", network(**CELL), hdf5(weights))
    write_json(directory / "b.json", network(**CELL))
    np.savez(directory / "b.npz", *[array for layer in weights for array in layer])
    (directory / "c.h5").write_bytes(hdf5(weights))
    with h5py.File(directory / "d.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(network(**CELL))
        root = file.create_group("model_weights")
        names = [f"l{n}" for n in range(1, 3)]
        root.attrs["layer_names"] = np.array(names, "S")
        for name, arrays in zip(names, weights, strict=True):
            group = root.create_group(name)
            group.attrs["weight_names"] = np.array(["kernel:0", "bias:0"], "S")
            for key, array in zip(("kernel:0", "bias:0"), arrays, strict=True):
                group[key] = array
    write_table(
        directory / "models.csv",
        [
            {"file": f"{name}", "width": n, "depth": n % 2, "train_accuracy": "0.5", "test_accuracy": ""}
            for n, name in enumerate(("a.keras", "d.h5"))
        ],
    )


def exported(directory: Path) -> None:
    sizes = {"x": [2, 3, 2], "flatten": [2, 6], "linear": [2, 4]}
    tensors = {name: {"sizes": [{"as_int": size} for size in shape]} for name, shape in sizes.items()}
    weight = {
        "path_name": "weight_0", "use_pickle": False,
        "tensor_meta": {
            "dtype": 7, "storage_offset": {"as_int": 0}, "sizes": [{"as_int": 4}, {"as_int": 6}],
            "strides": [{"as_int": 6}, {"as_int": 1}],
        },
    }  # fmt: skip
    signature = {
        "input_specs": [
            {"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "0.weight"}},
            {"user_input": {"arg": _tensor("x")}},
        ],
        "output_specs": [{"user_output": {"arg": _tensor("linear")}}],
    }
    nodes = [
        _node("flatten.using_ints", "flatten", self=_tensor("x"), start_dim={"as_int": 1}),
        _node("linear.default", "linear", input=_tensor("flatten"), weight=_tensor("p_weight")),
    ]
    graph = {"nodes": nodes, "tensor_values": tensors}
    config = {"config": {"0.weight": weight}}
    with zipfile.ZipFile(directory / "e.pt2", "w") as archive:
        archive.writestr("e/archive_format", "pt2")
        archive.writestr("e/models/model.json", json.dumps({"graph_module": {"graph": graph, "signature": signature}}))
        archive.writestr("e/data/weights/model_weights_config.json", json.dumps(config))
        archive.writestr("e/data/weights/weight_0", np.linspace(-1, 1, 24, dtype=np.float32).tobytes())
        archive.writestr("e/data/constants/model_constants_config.json", '{"config": {}}')


def _tensor(name: str) -> dict[str, object]:
    return {"as_tensor": {"name": name}}


def _node(target: str, output: str, **arguments: object) -> dict[str, object]:
    inputs = [{"name": name, "arg": argument, "kind": 1} for name, argument in arguments.items()]
    metadata = {"nn_module_stack": "L__self___0,0,torch.nn.modules.linear.Linear"}
    return {"target": f"torch.ops.aten.{target}", "inputs": inputs, "outputs": [_tensor(output)], "metadata": metadata}


def arrays(directory: Path) -> None:
    images = np.linspace(0, 255, 4 * 5 * 5).reshape(4, 5, 5, 1)
    labels = np.array([0, 1, 1, 0])
    np.savez_compressed(
        directory / "data.npz", x_train=images / 255, y_train=labels, x_test=images / 255, y_test=labels
    )
    np.save(directory / "x.npy", images)
    np.save(directory / "y.npy", labels)
    for number, image in enumerate(images.astype(np.uint8)):
        folder = directory / "images" / str(number % 2)
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image[..., 0]).save(folder / f"{number}.{('png', 'jpg', 'bmp', 'png')[number]}")


def recipes(directory: Path) -> None:
    (directory / "recipe.toml").write_text(RECIPE)
    (directory / "competition.toml").write_text(COMPETITION)


def archives(directory: Path) -> None:
    made = directory / "x"
    made.mkdir()
    make_archive(made / "tasks.zip", n_models=2, n_train=3, n_test=3, n_shards=1)
    (made / "tasks.zip").rename(directory / "tasks.zip")
    for name, mode in (("tasks.tar", "w"), ("tasks.gz", "w:gz")):
        with tarfile.open(directory / name, mode) as archive:
            archive.add(made / "made", "made")
    shutil.rmtree(made)


def site(directory: Path) -> None:
    data, _ = make_site(directory / "reference")
    write_site(data, directory / "site")


def database(directory: Path) -> None:
    references(directory / "tasks")
    crash = evaluation(outcome=Outcome.CRASH, model="model_1", message="x", output_tail="y")
    made = [*rows("mine"), *rows("theirs", submission_digest="d2"), crash]
    with Records(str(directory / "results.db")) as records:
        records.add(*made)
        records.ask([request(made[0]), request(made[8], team="The Seven")])


def predictions(directory: Path) -> None:
    references(directory / "tasks")
    write_json(directory / "values/toy.predict", {f"model_{n}": n / 7 if n % 3 else "EXCEEDED" for n in range(8)})


#: The submission of the results.
MINE = Submission("mine", {"complexity.py": b""})


def settings() -> PhaseSettings:
    """Return the settings of the phase that `results` belong to."""
    digests = TaskDigests(models={f"model_{n}": "m0" for n in range(8)}, data="t0")
    return PhaseSettings(
        name="Feedback", is_check=False, time_limit_s=300.0, memory_bytes=2**32, execution_time_limit_s=600,
        tasks={"toy": digests}, columns={"toy": "toy"},
    )  # fmt: skip


def results(directory: Path) -> None:
    """Write an output of the ingestion program, unpacked and as a downloaded archive, and the submission."""
    output = directory / "output"
    output.mkdir()
    with Records(str(directory / "made.db")) as records:
        made = rows("submission", sandbox="landlock", submission_digest=MINE.digest)
        records.add(*made)
        records.ask([request(made[0])])
    (directory / "phase.json").write_bytes(settings().to_bytes())
    write_result(output, PhaseResult(), {RECORDS: directory / "made.db", "toy.predict": b"{}"})
    (directory / "made.db").unlink()
    with zipfile.ZipFile(directory / "mine.zip", "w") as archive:
        for file in output.iterdir():
            archive.write(file, file.name)


def report(directory: Path) -> None:
    (directory / "report.json").write_text(REPORT.to_json())
