"""The older name of `cdna5.cluster`."""

from ..cdna5.cluster import *  # noqa: F403
from ..cdna5.cluster import __all__ as __all__
