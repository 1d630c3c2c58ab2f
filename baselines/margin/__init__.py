"""How far the right class is ahead: by itself, over a norm, or as a distance in an inner layer.

A large margin at a small Lipschitz constant means that no small change of an input changes the answer (Bartlett et
al. 2017, arXiv 1706.08498), and distances from the boundary in hidden layers predict the gap better than those of
the logits alone (Jiang et al. 2018, arXiv 1810.00113; Natekar and Sharma 2020, arXiv 2012.02775). Without a norm
below it, a margin grows with the scale of the last layer and says nothing. Where models were trained to one
cross-entropy, their margins of the logits differ little by design. Over a product of norms, the product's
dependence on depth outweighs the margin; over the spread of the classes in a layer (`kv_margin`, `kv_gn_margin`:
Chuang et al. 2021, arXiv 2106.03314) there is no such product, but the spread shrinks as classes collapse.
Distances in the input predict little, unless they are taken along its leading principal components
(`constrained_margin`: Mouton et al. 2023, arXiv 2308.15466); `deepfool_margin` (Moosavi-Dezfooli et al. 2016, arXiv
1511.04599) goes to the boundary step by step instead of once. `neg_confidence` and `expected_calibration_error` say
how sure answers are, and whether rightly: on a training set that is fitted, nearly the same.
"""
