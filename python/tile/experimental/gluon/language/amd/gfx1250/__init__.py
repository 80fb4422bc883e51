"""The older name of `cdna5`."""

from typing import Any

from ..cdna5 import *  # noqa: F403
from ..cdna5 import __all__ as __all__


def __getattr__(name: str) -> Any:
    from ...._absent import refuse

    return refuse("gluon.language.amd.cdna5", name)
