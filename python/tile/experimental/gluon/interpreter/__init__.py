"""Runs programs with explicit layouts as Python, on NumPy.

Tensors are arrays by logical index; that layouts fit is checked. Buffers lie in memory as their
layouts say, so that they can be reinterpreted. What is asynchronous happens as late as it may: a
program that does not wait sees that nothing has arrived. Partitions are coroutines."""

from . import amd, barriers, bulk_copies, layouts, packed, products
from .builder import ExplicitBuilder

#: The modules that define the operations.
SUBJECTS = [amd, barriers, bulk_copies, layouts, packed, products]

__all__ = ["ExplicitBuilder"]
