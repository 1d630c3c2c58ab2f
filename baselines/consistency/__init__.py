"""Whether classes are tight and apart inside the network, and whether harmless changes leave its answers as they are.

Clusters that overlap, midpoints of two examples of a class that are answered wrongly (Natekar and Sharma 2020,
arXiv 2012.02775, winners of the competition), and answers that change under flips, crops or colours (Aithal et al.
2021, arXiv 2101.06459, runners-up) speak for memorized examples. `mixup_error` is 0 for many good networks, and
ties say nothing. Networks that were trained with the very augmentation are robust to it without generalizing
better. A constant network passes every test of robustness. Midpoints in front of the first activation, as the winners
take them for `manifold_mixup_error`, are midpoints of inputs; here they lie behind it.
`dbi_mixup_winner` and `augmentation_robustness_runner_up` reproduce the submissions of the first two teams, which
depend on the order of the images; the others draw more of them, by seed.
"""
