"""How far the weights can be moved, at random or by an attack, before the network gets worse.

Weights in a flat region need to be known less precisely, which PAC-Bayes bounds turn into a smaller gap (Keskar et
al. 2017, arXiv 1609.04836; Neyshabur et al. 2017, arXiv 1706.08947; Jiang et al. 2019, arXiv 1912.02178; Foret et
al. 2021, arXiv 2010.01412). These are the most expensive measures here. Measures in absolute units change at will
when scale is moved between layers, though the function stays (Dinh et al. 2017, arXiv 1703.04933), and so do
`effective_dimensionality` (arXiv 2003.02139) and `local_learning_coefficient` (arXiv 2308.12108), whose chains are
far from long; the magnitude-aware ones (`_mag_`) hardly do, and `relative_flatness` (arXiv 2001.00939), `asam_` and
`adaptive_sharpness` (arXiv 2102.11600, 2302.07011) do not. Second derivatives of the loss vanish where the training
set is fitted well, whatever the gap. A search that attacks the weights finds a bad direction, not the worst one.
"""
