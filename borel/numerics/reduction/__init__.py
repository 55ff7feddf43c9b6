"""Densities of one number made of several: sums, products, maxima."""
