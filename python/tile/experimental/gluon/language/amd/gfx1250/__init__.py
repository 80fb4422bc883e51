"""The older name of `cdna5`."""

from ..cdna5 import *  # noqa: F403
from ..cdna5 import __all__ as __all__
