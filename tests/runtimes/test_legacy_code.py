"""Tests of every line of docs/submissions.md on code of 2020: restored names, and names that are not restored."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from each_runtime import run_python

from harness.worker.legacy.advice import ATTRIBUTES

pytestmark = pytest.mark.rest

PAGE = (Path(__file__).parents[2] / "docs" / "submissions.md").read_text()

#: Text of the page -> code of 2020, and the value of its last line in 2020.
RESTORED: dict[str, list[tuple[str, Any]]] = {
    "np.array(model.get_weights())": [
        ("np.array(model.get_weights()).shape", [4]),
        ("np.asarray(model.get_weights()).dtype.name", "object"),
        ("np.array([[1, 2], [3]])[1]", [3]),
        ("np.array([[1, 2], [3, 4]]).dtype.name", "int64"),
        ("np.array([[1, 2], [3]], dtype=float)", "ValueError"),
        ("np.array([[1, 2], [3]], None)[1]", [3]),
        ("np.asanyarray([[1, 2], [3]])[1]", [3]),
    ],
    "np.array(x, copy=False)": [
        ("np.array([1, 2], copy=False).tolist()", [1, 2]),
        ("x = np.zeros(2)\nnp.array(x, copy=False) is x", True),
        ("x = np.zeros(2)\nnp.array(x, copy=True) is x", False),
    ],
    "tf.keras.optimizers.SGD(lr=0.1, decay=1e-4)": [
        ("float(tf.keras.optimizers.SGD(lr=0.5).lr.numpy())", 0.5),
        ("from keras.optimizers import Adam\nfloat(Adam(lr=0.5, decay=1e-4).decay)", 1e-4),
        ("from tensorflow.keras import optimizers\nissubclass(optimizers.SGD, optimizers.Optimizer)", True),
        ("model.compile('adam', 'mse')\ntype(model.optimizer) is tf.keras.optimizers.Adam", True),
        ("type(tf.optimizers.get('sgd')) is tf.keras.optimizers.legacy.SGD", True),
        ("type(tf.optimizers.deserialize({'class_name': 'SGD', 'config': {}})) is tf.optimizers.SGD", True),
        (
            "first, second = tf.Variable(1.0), tf.Variable(2.0)\noptimizer = tf.keras.optimizers.Adam(0.5)\n"
            "optimizer.apply_gradients([(tf.constant(1.0), first)])\n"
            "optimizer.apply_gradients([(tf.constant(1.0), second)])\nround(float(second), 3)",
            1.628,  # of a second step: 2 - 0.5 sqrt(1 - 0.999^2) / (1 - 0.9^2) * 0.1 / sqrt(0.001)
        ),
    ],
    "import keras": [
        ("import keras\nisinstance(model.layers[0], keras.layers.Conv2D)", True),
        ("import keras\nkeras.layers is tf.keras.layers and keras.models is tf.keras.models", True),
        ("from keras.layers import Dense\nfrom keras.models import Model\nisinstance(model.layers[2], Dense)", True),
        ("import keras.backend as K\nK.floatx()", "float32"),
        ("import keras, tf_keras\nkeras.__version__ == tf.keras.__version__ == tf_keras.__version__", True),
        ("from keras.layers.normalization import BatchNormalization as B\nB.__name__", "BatchNormalization"),
        ("from keras.layers.merge import Add\nAdd is tf.keras.layers.Add", True),
        ("from keras.layers.experimental.preprocessing import Rescaling\nRescaling is tf.keras.layers.Rescaling", True),
        ("from keras.utils import np_utils\nnp_utils.to_categorical([1]).tolist()", [[0.0, 1.0]]),
        ("from tensorflow.keras.layers import Conv2D\nisinstance(model.layers[0], Conv2D)", True),
    ],
    "tensorflow.python.keras": [
        ("from tensorflow.python.keras.layers import Conv2D\nisinstance(model.layers[0], Conv2D)", True),
        ("from tensorflow.python.keras.layers.core import Flatten\nisinstance(model.layers[1], Flatten)", True),
        ("from tensorflow.python.keras.engine.base_layer import Layer\nisinstance(model.layers[1], Layer)", True),
        ("from tensorflow.python import keras\nisinstance(model.layers[0], keras.layers.Conv2D)", True),
        ("import tensorflow.python.keras.backend as K\nK.get_value(model.weights[1]).tolist()", [0.0, 0.0]),
    ],
    "model(x, tape)": [
        (
            "x = tf.ones([1, 8, 8, 1])\nwith tf.GradientTape() as tape: y = model(x, tape)\n"
            "tape.gradient(y, x).shape.as_list()",
            [1, 8, 8, 1],
        ),
        ("model(tf.ones([3, 8, 8, 1]), tape=False).shape.as_list()", [3, 2]),
        ("model(tf.ones([3, 8, 8, 1]), False).shape.as_list()", [3, 2]),
    ],
    "tf.config.threading.set_intra_op_parallelism_threads(1)": [
        ("tf.constant(1)\ntf.config.threading.set_intra_op_parallelism_threads(7)", None),
        ("from tensorflow.config import threading\nthreading.set_inter_op_parallelism_threads(7)", None),
        ("tf.config.set_visible_devices([], 'GPU')", None),
        (
            "cpu = tf.config.list_physical_devices('CPU')[0]\n"
            "tf.config.experimental.set_virtual_device_configuration("
            "cpu, [tf.config.experimental.VirtualDeviceConfiguration()] * 2)\nlen(tf.config.list_logical_devices())",
            1,
        ),
    ],
    "model_utils": [
        ("from model_utils import get_jacobian\n"
         "[one.shape.as_list() for one in get_jacobian(model, tf.ones([3, 8, 8, 1])).values()]",
         [[3, 2, 8, 8, 1], [3, 2, 6, 6, 2], [3, 2, 72]]),
        ("import model_utils\nmodel_utils.wrap_layer(tf.keras.layers.Dense, 4).units", 4),
        ("from model_utils import model_def_to_keras_sequential as build\n"
         "build([{'layer_name': 'Dense', 'units': 3.0, 'input_shape': [5]}]).count_params()", 18),
    ],
    "data_io": [
        ("from data_io import vprint, write_list, print_dict, swrite\nvprint(False, 'x')", None),
        ("import data_io, tempfile, os\nplace = tempfile.mkdtemp() + '/a/b'\ndata_io.mkdir(place)\n"
         "data_io.save_json(place + '/c', {'d': 1})\nopen(place + '/c').read()", '{\n    "d": 1\n}'),
        ("import data_io\ndata_io.inventory_data('.')", "AttributeError"),
    ],
}  # fmt: skip

#: Text of the page -> code of 2020, and its outcome.
NOT_RESTORED = {
    "np.random.seed(0)": ("np.random.seed(0)\nround(np.random.rand(), 4)", 0.5488),
    '"conv" in layer.name': ("['conv' in layer.name for layer in model.layers]", [True, False, False]),
    "model.input_shape": ("list(model.input_shape)", [None, 8, 8, 1]),
    "len(dataset)": ("len(dataset)", 3),
    "dataset.element_spec": ("[list(spec.shape) for spec in dataset.element_spec]", [[8, 8, 1], []]),
    "np.bool": ("np.bool is np.bool_ and np.zeros(2, np.bool).dtype.name", "bool"),
    "np.long": ("np.zeros(2, np.long).dtype.name", "int64"),
    "a.ptp()": ("np.zeros(2).ptp()", "AttributeError"),
    "a.itemset(0)": ("np.zeros(1).itemset(0)", "AttributeError"),
    "a.newbyteorder()": ("np.zeros(1).newbyteorder()", "AttributeError"),
    "a.tostring()": ("np.zeros(1).tostring()", "AttributeError"),
    "np.float32(3) + 3.0": ("(np.float32(3) + 3.0).dtype.name", "float32"),
    "np.mean(model.get_weights())": ("np.mean(model.get_weights())", "ValueError"),
    "np.cast": ("np.cast['int32']", "AttributeError"),
    "np.find_common_type": ("np.find_common_type([], [])", "AttributeError"),
    "np.testing.utils": ("np.testing.utils", "AttributeError"),
    "model.predict_proba(x)": ("model.predict_proba(np.zeros((1, 8, 8, 1)))", "AttributeError"),
    "model._layers": ("model._layers", "AttributeError"),
    "tf.keras.mixed_precision.experimental": ("tf.keras.mixed_precision.experimental", "AttributeError"),
    "scipy.integrate.trapz": ("import scipy.integrate\nscipy.integrate.trapz", "AttributeError"),
    "scipy.integrate.simps": ("import scipy.integrate\nscipy.integrate.simps", "AttributeError"),
    "model.predict_classes(x)": ("model.predict_classes(np.zeros((1, 8, 8, 1)))", "AttributeError"),
    "tf.keras.wrappers": ("tf.keras.wrappers", "AttributeError"),
    "tensorflow.python.keras.optimizer_v2": (
        "from tensorflow.python.keras.optimizer_v2 import adam\nadam",
        "ModuleNotFoundError",
    ),
    "keras.engine.topology": ("from keras.engine.topology import Layer\nLayer", "ModuleNotFoundError"),
    "scipy.misc.logsumexp": ("from scipy.misc import logsumexp\nlogsumexp", "ImportError"),
    "sklearn.externals": ("from sklearn.externals import joblib\njoblib", "ImportError"),
}

#: Seeds of operations: what TensorFlow gives where no global seed was set, and after `tf.random.set_seed(5)`.
SEEDED = [
    ("float(tf.random.normal([1], seed=1)[0])", -0.8113182),
    ("[int(number) for number in tf.data.Dataset.range(20).shuffle(20, seed=1).take(5)]", [0, 12, 9, 8, 13]),
    ("float(tf.function(lambda: tf.random.normal([1], seed=1))()[0])", -0.8113182),
    ("float(tf.random.normal([1], seed=-1)[0])", -0.9625477),
    ("float(tf.random.normal([1], seed=2**31 - 1)[0])", -0.3991576),
    ("tf.random.set_seed(5)\nfloat(tf.random.normal([1], seed=1)[0])", -1.3768897),
]

#: Code of 2020 under another runtime, and whether `keras: 2` cures its error.
ADVISED = {
    "np.int": True,
    "np.in1d([1], [1])": True,
    "from collections import Iterable": True,
    "import time; time.clock()": True,
    "model.layers[0].output.get_shape()": True,
    "model.layers[0].output_shape": True,
    "tf.keras.optimizers.SGD(lr=0.5)": True,
    "tf.keras.optimizers.legacy.SGD(0.5)": True,
    "tf.keras.backend.set_session": True,
    "np.array([np.zeros(2), np.zeros(3)])": True,
    "np.float_(1)": True,
    "np.asfarray([1])": True,
    "tf.keras.optimizers.Adam(epsilon=1e-7, unknown=1, lr=0.5)": True,
    "tf.keras.optimizers.SGD(0.5, decay=0.1)": True,
    "from tensorflow.keras.layers.core import Dense": True,
    "from keras.utils.np_utils import to_categorical": True,
    "from tensorflow.keras.layers.experimental.preprocessing import Rescaling": True,
    "optimizer = tf.keras.optimizers.SGD(0.5); first, second = tf.Variable(1.0), tf.Variable(2.0); "
    "optimizer.apply_gradients([(first, first)]); optimizer.apply_gradients([(second, second)])": True,
    "from model_utils import get_jacobian": True,
    "from data_io import vprint": True,
    "raise OSError(errno.EROFS, 'Read-only file system', '/submission/out.txt')": True,
    "raise OSError(errno.EACCES, 'Permission denied', '/submission/out.txt')": True,
    "raise OSError(errno.EROFS, 'Read-only file system', '/usr/out.txt')": False,
    "open('/submission/out.txt')": False,
    "import data_io_of_mine": False,
    "tf.keras.mixed_precision.experimental": False,
    "tf.keras.wrappers": False,
    "model.predict_classes(np.zeros((1, 8, 8, 1)))": False,
    "tf.keras.backend.get_session()": False,
    "model.wieghts": False,
    "model.layers[1].kernel": False,
    "np.mean([np.zeros(2), np.zeros(3)])": False,
    "raise ValueError('block 3 has an inhomogeneous shape')": False,
    "raise TypeError('this layer is not supported in Keras 3')": False,
    "raise ImportError(\"cannot import name 'x' from 'keras.foo'\")": False,
    "np.obj2sctype('f4')": True,
    "np.cast": False,
    "np.no_such_name": False,
    "np.array('a', dtype=float)": False,
    "from collections import no_such_name": False,
    "model(1, 2, 3, 4, 5)": False,
    "1 / 0": False,
}

PROGRAM = """
import errno, json, sys, tempfile
from pathlib import Path
import numpy as np
from harness.worker.runtimes import RUNTIMES
runtime = RUNTIMES[sys.argv[1]]
SUBMISSION = Path("/submission")
runtime.import_libraries()
architecture = {"format": "layers", "input_shape": [8, 8, 1], "layers": [
    {"class_name": "Conv2D", "config": {"filters": 2, "kernel_size": 3}}, {"class_name": "Flatten", "config": {}},
    {"class_name": "Dense", "config": {"units": 2}}]}
model = runtime.build_model(architecture)
with tempfile.TemporaryDirectory() as data:
    np.save(data + "/inputs.npy", np.zeros((3, 8, 8, 1), np.float32))
    np.save(data + "/labels.npy", np.zeros(3, np.int32))
    dataset = runtime.load_dataset(Path(data))
tf = __import__(runtime.framework)
runtime.admit("complexity")
answers = []
for seed, code in enumerate(json.loads(sys.argv[3])):
    runtime.seed(seed)
    names = {"errno": errno, "np": np, "tf": tf, "model": model, "dataset": dataset}
    *lines, question = code.splitlines()
    try:
        exec("\\n".join(lines), names)
        answer = eval(question, names) if sys.argv[2] == "value" else exec(question, names)
    except Exception as error:
        answer = type(error).__name__ if sys.argv[2] == "value" else runtime.advice(error, SUBMISSION)
    answers.append(answer)
print(json.dumps(answers))
"""


def ask(runtime: str, codes: list[str], what: str = "value") -> Any:
    """Return the results of code in this runtime: values or error names, or the advice on the errors."""
    return json.loads(run_python(runtime, "-c", PROGRAM, runtime, what, json.dumps(codes)))


def rows(heading: str) -> list[str]:
    """Return the first column of a table in docs/submissions.md."""
    table = PAGE.split(f"| of 2020 | {heading} |\n")[1].split("\n\n")[0]
    return [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[1:]]


def test_every_line_of_the_page_is_tried() -> None:
    """Names that have been removed have a test of their own."""
    restored = [row for row in rows("restored") if row.split("`")[1] not in ("numpy", "collections", "inspect")]
    assert set(re.findall("`(.+?)`", "".join(restored))) == set(RESTORED)
    assert set(re.findall("`(.+?)`", "".join(rows("not restored")))) == set(NOT_RESTORED)


def test_what_is_restored_with_keras_2_and_which_seeds_with_keras_3() -> None:
    tried = [pair for pairs in RESTORED.values() for pair in pairs] + SEEDED
    found = dict(zip((code for code, _ in tried), ask("keras2", [code for code, _ in tried]), strict=True))
    assert found == {code: pytest.approx(answer) if isinstance(answer, float) else answer for code, answer in tried}
    found = ask("tensorflow", [code for code, _ in SEEDED])
    assert found == [pytest.approx(answer) if isinstance(answer, float) else answer for _, answer in SEEDED]


def test_what_is_not() -> None:
    found = ask("keras2", [code for code, _ in NOT_RESTORED.values()])
    assert dict(zip(NOT_RESTORED, found, strict=True)) == {name: answer for name, (_, answer) in NOT_RESTORED.items()}


def test_keras_3_runs_no_code_of_2020_as_something_else() -> None:
    codes = ["from tensorflow.python.keras.layers import Conv2D\nisinstance(model.layers[0], Conv2D)"]
    codes += ["import keras\ntype(model.layers[0]) is keras.layers.Conv2D", "tf.keras.optimizers.SGD(0.5, decay=0.1)"]
    assert ask("tensorflow", codes) == [True, True, "UserWarning"]


def test_attributes_that_are_advised_are_those_of_keras_2() -> None:
    code = "[sorted(dir(one)) for one in (model, model.layers[0], model.outputs[0], tf.keras.optimizers.SGD())]"
    (of_keras_2,), (of_keras_3,) = ask("keras2", [code]), ask("tensorflow", [code])
    gone = [{*then} - {*now} for then, now in zip(of_keras_2, of_keras_3, strict=True)]
    assert set().union(*gone) >= ATTRIBUTES


def test_errors_that_keras_2_cures_say_so() -> None:
    found = ask("tensorflow", list(ADVISED), "advice")
    assert {code: "`keras: 2`" in (said or "") for code, said in zip(ADVISED, found, strict=True)} == ADVISED
    assert set(ask("keras2", ["np.no_such_name", "model.no_such_name"], "advice")) == {""}
