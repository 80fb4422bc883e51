"""A backend that is no part of tile: kernels become text for a machine that nobody has built.

The tests find it by ``TILE_BACKENDS``. It shows what a backend consists of in Python.
"""

TARGETS = ["toy"]
