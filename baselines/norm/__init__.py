"""How large the weights are, or how far training moved them from their initial values.

Bounds for deep networks grow with products of the layers' norms (Neyshabur et al. 2015, arXiv 1503.00036; Bartlett
et al. 2017, arXiv 1706.08498): a network with small weights can't change its answer quickly between two inputs.
Products grow with depth, and between networks of several depths they mostly rank the depth. A norm that changes
when scale is moved from one layer to the next (`param_norm`, `fro_dist`) says as much about the optimizer as about
the function. Norms also grow with the number of training examples, where the gap shrinks (Nagarajan and Kolter
2019, arXiv 1902.04742). Spectral norms come in three forms: of the kernel as a matrix; `_fft`, of the convolution
with periodic borders (Sedghi, Gupta and Long 2018, arXiv 1805.10408); `_op`, of the layer as it is. Frobenius norms
beside them stay those of kernels, so that `fro_over_spec_fft` and `_op` are no ranks. `path_norm` is meant for
ReLU-like activations. `alpha`, `weighted_alpha`, `log_alpha_norm`, `mp_soft_rank` and, but for the sign,
`rand_distance` are the values of WeightWatcher 0.7.7 with its defaults, by its own conventions: layers with 8
eigenvalues or more count, normalization is not folded, and a convolution is one matrix for each place of its window.
The first three fit power laws to the layers' spectra (Martin, Peng and Mahoney 2021, arXiv 2002.06716), which takes
hundreds of eigenvalues to be steady: small networks have tens, and their exponents are mostly noise.
"""
