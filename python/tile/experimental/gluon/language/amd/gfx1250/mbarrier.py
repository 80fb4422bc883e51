"""The older name of `cdna5.mbarrier`."""

from ..cdna5.mbarrier import *  # noqa: F403
from ..cdna5.mbarrier import __all__ as __all__
