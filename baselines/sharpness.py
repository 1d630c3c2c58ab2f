"""Sharpness of the training loss around the trained weights."""

from collections.abc import Callable
from typing import Any

from baselines.lazy import tf
from baselines.measure import Need, measure
from baselines.network import INPUT, Network
from baselines.subject import Subject

BATCH_SIZE = 64
N_BATCHES = 10
N_STEPS = 20
N_RESTARTS = 3
N_HALVINGS = 20
LARGEST_RATIO = 2.0
TOLERANCE = 0.01  #: of the drop in accuracy at which the search is content
STEP_TO_RADIUS = 2.5 / N_STEPS  #: the steps can cross the whole box, as is usual for this kind of attack


@measure(
    family="sharpness",
    meaning="minus the relative size of the smallest change of the weights that costs 10 % accuracy",
    formula="-max{a : no |u_i| <= a |w_i| costs the accuracy drop}",
    source="PGDL starting kit (Jiang et al. 2020, arXiv 2012.07976), with ascent where its code descends",
    cost="20 x 3 x (20 B + 1 F)",
    needs={Need.DATA, Need.LABELS, Need.GRADIENTS},
)
def sharpness(subject: Subject, *, accuracy_drop: float = 0.1, seed: int = 0) -> float:
    """Minus the largest a for which no change of every weight w by at most a |w| costs the accuracy drop.

    Range: [-2, 0]; larger means that smaller changes of the weights do harm. -2 is the bound of the search.
    The changes are sought by projected gradient ascent on the cross-entropy, from three random starts.

    The procedure and its sizes are those of the sharpness of the competition's starting kit, with four
    corrections: the kit descends on the loss although it looks for a maximum, it assumes a training accuracy
    of 1 instead of measuring it, it returns +a, which is large where the gap should be small, and it leaves
    the model changed. Steps follow the gradient's sign, because a rate that fits one network does not fit
    the next. All trainable weights count; batch normalization is not folded.

    Args:
        subject: the network and its training data.
        accuracy_drop: accuracy that the changes have to cost, in (0, 1].
        seed: draws the 640 training examples and the random starts.
    """
    network = subject.network
    attack = _Attack(network, _batches(subject.dataset, seed), seed)
    accuracy = attack.accuracy()
    enough = accuracy - accuracy_drop - TOLERANCE
    with network.restoring():
        return -_largest_harmless(lambda ratio: accuracy - attack.worst_accuracy(ratio, enough), accuracy_drop)


def _batches(dataset: Any, seed: int) -> list[tuple[Any, Any]]:
    """Draw the examples, in batches of (images, labels)."""
    shuffled = dataset.shuffle(10_000, seed=seed, reshuffle_each_iteration=False)
    return list(shuffled.batch(BATCH_SIZE).take(N_BATCHES))


def _largest_harmless(drop: Callable[[float], float], allowed: float) -> float:
    """Largest ratio in [0, LARGEST_RATIO] whose drop in accuracy is at most `allowed`, by bisection."""
    low, high = 0.0, LARGEST_RATIO
    if drop(high) <= allowed:
        return high
    middle = high
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        excess = drop(middle) - allowed
        if abs(excess) < TOLERANCE:
            break
        low, high = (low, middle) if excess > 0 else (middle, high)
    return middle


class _Attack:
    """Looks for the change of the weights, within a box around the trained ones, that harms most."""

    def __init__(self, network: Network, batches: list[tuple[Any, Any]], seed: int) -> None:
        self._network, self._batches, self._seed = network, batches, seed
        self._weights = network.variables
        self._trained = [tf.constant(weights.numpy()) for weights in self._weights]
        images, labels = network.spec(INPUT), tf.TensorSpec((None,), tf.int32)
        self._climb = network.compiled("climb", self._climb_once, tf.TensorSpec((), tf.float32), images, labels)
        self._hits = network.compiled("hits", self._count_hits, images, labels)

    def accuracy(self) -> float:
        """Fraction of the examples that the weights of this moment classify correctly."""
        hits = sum(float(self._hits(*batch)) for batch in self._batches)
        return hits / sum(int(labels.shape[0]) for _, labels in self._batches)

    def worst_accuracy(self, ratio: float, enough: float) -> float:
        """Lowest accuracy that was found within `ratio` times the size of each weight.

        The search ends early once it is below `enough`. Starts are the same for all ratios, in proportion.
        """
        lowest = 1.0
        for restart in range(N_RESTARTS):
            self._start(ratio, restart)
            for step in range(N_STEPS):
                self._climb(tf.constant(ratio), *self._batches[step % len(self._batches)])
            lowest = min(lowest, self.accuracy())
            if lowest < enough:
                break
        return lowest

    def _start(self, ratio: float, restart: int) -> None:
        """Go to a random place in the inner half of the box."""
        for position, (weights, trained) in enumerate(zip(self._weights, self._trained, strict=True)):
            seed = [self._seed, N_RESTARTS * position + restart]
            shift = tf.random.stateless_uniform(trained.shape, seed, -0.5, 0.5)
            weights.assign(trained + ratio * tf.abs(trained) * shift)

    def _climb_once(self, ratio: Any, images: Any, labels: Any) -> None:
        with tf.GradientTape() as tape:
            logits = self._network.logits(images)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        gradients = tape.gradient(loss, self._weights)
        for weights, trained, gradient in zip(self._weights, self._trained, gradients, strict=True):
            radius = ratio * tf.abs(trained)
            moved = weights + STEP_TO_RADIUS * radius * tf.sign(gradient)
            weights.assign(tf.clip_by_value(moved, trained - radius, trained + radius))

    def _count_hits(self, images: Any, labels: Any) -> Any:
        logits = self._network.logits(images)
        hits = tf.equal(tf.argmax(logits, axis=1, output_type=labels.dtype), labels)
        return tf.reduce_sum(tf.cast(hits, tf.float32))
