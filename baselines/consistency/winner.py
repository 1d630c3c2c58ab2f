"""The measures of the PGDL competition's first and second place, with the random draws of the published submissions."""

from fractions import Fraction

import numpy as np

from baselines.consistency.augmentation_robustness import SATURATION, sum_of_penalties
from baselines.consistency.davies_bouldin import index_of_batches
from baselines.consistency.mixup import pairs_of, predicted_class
from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.streams import stream
from baselines.core.subject import Subject
from baselines.network import INPUT

#: Size of TensorFlow's shuffle buffer; TensorFlow's global seed, and the seed of the shuffle.
BUFFER, SEEDS = 5000, (0, 1)

#: Number of batches; examples in a batch for clusters; examples per class in a batch for mixtures; number of examples
#: whose largest label determines the number of classes.
N_BATCHES, CLUSTERED, PER_CLASS, SEEN = 10, 120, 10, 50


@measure(Need.LABELS, Need.QUANTITIES)
def dbi_mixup_winner(subject: Subject) -> float:
    """dbi_mixup with the draws of the submission that won the PGDL competition.

    Formula: davies_bouldin_index times mixup_error, each on 10 batches; means over batches, then over kappa classes.
    Range: [0, inf). Source: Natekar and Sharma 2020, arXiv 2012.02775, and their submission, team Interpex. Work: 1
    forward pass over 450 x kappa mixtures, and 1 forward pass over 1200 examples up to the first convolution. Draws:
    depend on the order of examples. Refused: no class has examples in every batch, or all examples are of one class.

    The value depends on the order of the dataset, and on no seed. The index is computed in batches of 120 on the first
    1,200 examples of the repeated and shuffled dataset (buffer of 5,000, fixed seeds). Mixtures are made of the
    dataset's first examples in their order, in ten batches of ten examples per class. The number of classes is one more
    than the largest label among the first 50 shuffled examples. Larger labels are ignored, and so are classes that a
    batch lacks. If a class has a single example in a batch, the batch is left out for this class; the authors'
    code yields NaN. `dbi_mixup` draws more examples by seed and gives all pairs of a class equal weight. At chance
    accuracy the value is meaningless, as for `dbi_mixup`.
    """
    shuffled = _shuffled(len(subject.examples), CLUSTERED * N_BATCHES)
    batches = [subject.examples.take(positions) for positions in shuffled.reshape(N_BATCHES, CLUSTERED)]
    overlap = index_of_batches(subject.network, batches, "initial", pool=4)
    n_classes = 1 + int(subject.examples.labels[shuffled[:SEEN]].max())
    return overlap * float(1 - _accuracy(subject, n_classes))


def _shuffled(n_examples: int, number: int) -> Array:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.set_random_seed(SEEDS[0])
        positions = tf.data.Dataset.range(n_examples).repeat().shuffle(BUFFER, seed=SEEDS[1]).batch(number)
        found: Array = session.run(tf.compat.v1.data.make_one_shot_iterator(positions).get_next())
    return found


def _accuracy(subject: Subject, n_classes: int) -> Fraction:
    examples = subject.examples
    size = PER_CLASS * n_classes
    batches = (np.arange(N_BATCHES * size) % len(examples)).reshape(N_BATCHES, size)
    pairs = [pairs_of(examples.labels, batch[None]) for batch in batches]
    first, second = np.concatenate(pairs, axis=1)
    right = predicted_class(subject.network, examples.inputs, first, second, INPUT) == examples.labels[first]
    numbers = np.repeat(np.arange(N_BATCHES), [len(some) for some, _ in pairs])
    accuracies = []
    for label in range(n_classes):
        if all(label in examples.labels[batch] for batch in batches):
            of_class = examples.labels[first] == label
            found = [right[of_class & (numbers == number)] for number in range(N_BATCHES)]
            means = [Fraction(int(hits.sum()), len(hits)) for hits in found if len(hits)]
            accuracies += [sum(means, Fraction(0)) / len(means)] if means else []
    if not accuracies:
        raise MeasureUnavailable("needs a class with examples in every batch, which this training set lacks")
    return sum(accuracies, Fraction(0)) / len(accuracies)


@measure(Need.CLASSES, Need.QUANTITIES)
def augmentation_robustness_runner_up(
    subject: Subject, *, batch: int = 64, n_batches: int = 201, seed: int = 0
) -> float:
    """Penalty for changed predictions on augmented images, summed over the dataset's first images: runner-up of PGDL.

    Formula: sum over images x of sum_t (|max p(x) - max p(t(x))| if argmax p(x) = argmax p(t(x)), else P_t), p the
    predicted probabilities. Range: [0, inf). Source: Aithal et al. 2021, arXiv 2101.06459, and their submission, team
    Always Generalize. Work: 8 forward passes over min(m, 12,864) examples. Draws: depend on the order of examples.
    Refused: inputs are not images of 1, 3 or 4 channels.

    The team's final submission consists of this term alone. Transformations t and penalties P_t are those of
    `augmentation_robustness_penalty`, with five differences. The dataset is read from its start, unshuffled, and at
    most 201 batches are read. All images of a batch share a factor of saturation, and their flipped images share a
    second factor. Penalties are summed, not averaged. Pixels may have any range. The submission returned minus the sum;
    the sign hardly changes the competition's score. Here larger values predict larger gaps. At chance accuracy the
    value is meaningless: a network with constant outputs has the best value, 0.

    Args:
        batch: images that share a factor of saturation.
        n_batches: batches from the dataset's start.
    """
    inputs = subject.examples.inputs[: batch * n_batches]
    rng = stream("runner-up", seed)
    factors = rng.uniform(*SATURATION, (2, -(-len(inputs) // batch))).astype(np.float32)
    saturations = np.repeat(factors, batch, axis=1)[:, : len(inputs)]
    return sum_of_penalties(subject.network, inputs, saturations, rng)
