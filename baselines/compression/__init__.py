"""How much noise, pruning or rounding the network bears.

A network that keeps its answers when its layers are compressed has fewer effective parameters than weights, and a
bound with these is smaller (Arora et al. 2018, arXiv 1802.05296). An interlayer cushion of that bound is at most
one over the root of a layer's width, whatever the data: among networks of several widths the bound ranks the width.
Networks with more weights than they need bear pruning well, however they generalize. `quantization_bits` is a small
integer: many ties.
"""
