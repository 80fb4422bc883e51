"""Functions of the device library, by the symbols that kernels call."""

from __future__ import annotations
