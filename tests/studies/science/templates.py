"""Templates of recipes, which take a setting's title and data; their corpora are not shipped."""

#: Networks on images at any place of a torus: shifts in a circle change neither label nor density.
TORUS = """
name = "torus"
description = "Convolutional networks on images anywhere on a torus ({title})"

[data]
source = "npz"
path = "torus.npz"

[architecture]
family = "fully_convolutional"
channels = 1

[training]
optimizer = "adam"
learning_rate = 0.005
max_epochs = 150
stop = {{ cross_entropy = 0.05 }}

[grid]
batch_size = [32, 96]
depth = [2, 4]
n_parameters = [4000, 8000]
"""

STAGE = """
name = "{name}"
description = "Perceptrons after {epochs} epochs of training ({title})"

[data]
{data}
n_train = 600

[architecture]
family = "mlp"

[training]
optimizer = "adam"
learning_rate = 0.002
batch_size = 32
max_epochs = {epochs}
stop = {{ cross_entropy = 0.0000001 }}

[grid]
depth = [2, 3, 4]
width = [32, 128]
{seeds}
"""

#: Perceptrons fitted to labels of which more and more are wrong.
WRONG_LABELS = """
name = "wrong_labels"
description = "Perceptrons fitted to images of which up to 60 percent have wrong labels ({title})"

[data]
{data}
n_train = 400

[architecture]
family = "mlp"

[training]
optimizer = "adam"
learning_rate = 0.002
batch_size = 32
max_epochs = 600
stop = {{ train_accuracy = 0.98 }}

[grid]
depth = [2, 3, 4]
width = [64, 128]
label_noise = [0.0, 0.2, 0.4, 0.6]
"""

#: A few networks whose errors are looked at image by image.
ERRORS = """
name = "errors"
description = "VGG-like networks ({title})"

[data]
{data}
n_train = 1000

[architecture]
family = "vgg"
n_dense = 1
dense_units = 32

[training]
optimizer = "adam"
learning_rate = 0.002
batch_size = 32
initializer = "he_normal"
max_epochs = 100
stop = {{ cross_entropy = 0.02 }}

[grid]
n_blocks = [1, 2]
n_filters = [8, 16]
"""
