"""
An envelope
===========

The smallest epsilon that no post-processing exceeds with probability more than delta, beside the
bounds of theorems.
"""

from fractions import Fraction as F

import borel as bl

h, f, t = F(1, 2), F(1, 5), F(2, 5)
table = bl.Mechanism.from_matrix([[0, 0, h, h], [0, 0, h, h], [0, f, t, t], [f, 0, t, t]])
bl.plot_envelope(bl.pmf([F(1, 4)] * 4) * table)
