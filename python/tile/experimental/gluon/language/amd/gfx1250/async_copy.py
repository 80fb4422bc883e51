"""The older name of `cdna5.async_copy`."""

from ..cdna5.async_copy import *  # noqa: F403
from ..cdna5.async_copy import __all__ as __all__
