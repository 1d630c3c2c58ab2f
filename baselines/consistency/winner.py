"""The submission that won the competition, with the draws of its published file."""

from fractions import Fraction

import numpy as np

from baselines.consistency.davies_bouldin import index_of_batches
from baselines.consistency.mixup import pairs_of, predicted_class
from baselines.core.lazy import tf
from baselines.core.measure import MeasureUnavailable, Need, measure
from baselines.core.sample import Array
from baselines.core.subject import Subject
from baselines.network import INPUT

#: Examples among which the next one is drawn, and TensorFlow's seeds: of all operations, and of the shuffling.
BUFFER, SEEDS = 5000, (0, 1)

#: Batches, examples of one for clusters, examples of one for mixtures per class, and examples that tell the classes.
N_BATCHES, CLUSTERED, PER_CLASS, SEEN = 10, 120, 10, 50


@measure(Need.LABELS, Need.QUANTITIES)
def dbi_mixup_winner(subject: Subject) -> float:
    """dbi_mixup with the draws of the submission that won the PGDL competition.

    Formula: davies_bouldin_index mixup_error, of 10 batches each; mean over batches, then over classes. Range: [0,
    inf). Source: Natekar and Sharma 2020, arXiv 2012.02775, and their submission, team Interpex. Work: 1 F of 450 x
    kappa mixtures, and 1 F of 1200 examples up to the first convolution. Draws: by example.

    `dbi_mixup` as it was submitted, on the examples that the published file draws. It depends on the order of the
    dataset, and on no seed. The clusters are those of the first 1,200 examples of the dataset when it is repeated and
    shuffled with a buffer of 5,000 and fixed seeds, 120 at a time. Mixtures are made of the dataset's first examples
    without shuffling, in ten batches. A batch has ten examples for each class up to the largest among the first 50
    shuffled ones, and others do not count, nor does a class that a batch lacks. Where a batch has a single example of a
    class, which makes the authors' value no number, it is left out for this class. `dbi_mixup` draws more examples by
    seed and weighs all pairs of a class alike. At chance accuracy it says nothing, as `dbi_mixup`.

    Raises:
        MeasureUnavailable: no class has examples in every batch, or all examples are of one class.
    """
    shuffled = _shuffled(len(subject.examples), CLUSTERED * N_BATCHES)
    batches = [subject.examples.take(positions) for positions in shuffled.reshape(N_BATCHES, CLUSTERED)]
    overlap = index_of_batches(subject.network, batches, "initial", pool=4)
    n_classes = 1 + int(subject.examples.labels[shuffled[:SEEN]].max())
    return overlap * float(1 - _accuracy(subject, n_classes))


def _shuffled(n_examples: int, number: int) -> Array:
    """The first positions of a dataset that is repeated and shuffled by TensorFlow, whatever seed the call has."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.set_random_seed(SEEDS[0])
        positions = tf.data.Dataset.range(n_examples).repeat().shuffle(BUFFER, seed=SEEDS[1]).batch(number)
        found: Array = session.run(tf.compat.v1.data.make_one_shot_iterator(positions).get_next())
    return found


def _accuracy(subject: Subject, n_classes: int) -> Fraction:
    """Mean over classes of the mean over batches of the accuracy on all pairs of a class, without rounding."""
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
