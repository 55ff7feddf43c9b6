"""Kernels of several secrets as kernels of a weighted sum of them, and the density of that."""
