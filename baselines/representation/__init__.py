"""The shape of hidden representations: collapse, dimension, and how units go together.

Classes that collapse to points apart from each other are expected to be told apart on new examples, too: `cdnv`
(Galanti et al. 2022, arXiv 2112.15121) and `neural_collapse_nc1` (Papyan et al. 2020, arXiv 2008.08186).
Representations of low intrinsic dimension were found with low test errors (Ansuini et al. 2019, arXiv 1905.12784),
and those of high effective rank with high accuracy of linear probes (Garrido et al. 2023, arXiv 2210.02885): rank
and dimension are not the same, and RankMe was made for networks that were not trained on labels. Every network that
is trained long enough collapses on its training set, however wrong the labels are. These look at the penultimate
representation: the input of the last weight layer, pooled where the network pools behind that layer, whose width bounds
the rank. Persistent homology looks at the units of all layers: networks with
fewer units that are nearly copies of others are expected to generalize (`persistence_mean_h0`: Ballester et al.
2024, arXiv 2203.12330). The paper fits many summaries together to the gaps of a task, and has degree 1 as well,
which is too slow here for hundreds of units.
"""
