"""The practical generalization metric of Huang, Yu and Zhang."""
