"""The older name of `cdna5.tdm`."""

from ..cdna5.tdm import *  # noqa: F403
from ..cdna5.tdm import __all__ as __all__
