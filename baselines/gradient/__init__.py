"""Derivatives of the logits or of the loss, with respect to inputs or to weights.

A network that answers steadily around its training examples is expected to do so beside them (Novak et al. 2018,
arXiv 1802.08760), and weights whose change moves the answers much carry much information (Liang et al. 2019, arXiv
1711.01530). Derivatives of the loss are tiny once the training set is fitted, and then only rank how far training went:
use the `log_` forms. Gradients of single examples that point the same way (`gsnr`, `m_coherence`: Liu et al. 2020,
arXiv 2001.07384; Chatterjee and Zielinski 2020, arXiv 2008.01217) say most in the midst of training; at its end they
say how far it went. Takeuchi's criterion (`tic_trace`, `tic_diag`: Thomas et al. 2020, arXiv 1906.07774) is the gap of
regular models, which networks are not, and takes the training set's own probabilities for true. Derivatives of the
logits grow with the scale of the logits, and their mean square over examples (`geometric_complexity`: Dherin et al.
2022, arXiv 2209.13083) with the square of it: on a training loss that goes to 0 it ranks how far training went.
Steadiness is no virtue by itself: a constant network has it.
"""
