"""How the slope of a network's activations over depth varies with the entropy of the input.

Networks that use their deep layers more for complex images than for simple ones were found to generalize better
(Gain and Siegelmann 2020, Abstraction Mechanisms Predict Generalization in Deep Neural Networks, ICML). In the paper,
all but `cna` compare with held-out data. A measure is given none, so an augmented copy of the training
images stands in for it, and networks that were trained with such augmentation look better than they are. Sums over
a layer grow with its width, so the slope depends on the architecture. Two hidden weight layers are needed, and
images that differ in entropy.
"""
