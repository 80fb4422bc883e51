"""The package ``triton`` of the distribution tile-compiler-triton: tile."""

import sys

# While the switch is turned on, this module must not look like another triton;
# the import system then takes what stands in its place.
sys.modules.pop("triton", None)

import tile.compat  # noqa: E402

tile.compat.install()

import triton  # noqa: E402, F401
