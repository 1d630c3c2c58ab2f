"""Whether neighbours in a hidden representation have the same label.

Each measure builds graphs of training examples whose edges join similar representations, and asks how much the
label varies along them, or how that changes from layer to layer (Lassance et al. 2020, arXiv 2011.12737, third
place of the competition). A network that separates the classes early and smoothly is expected to generalize. Few
graphs of few examples are noisy. With many classes a graph has few examples of each, and most of its edges join
different classes in any network.
"""
