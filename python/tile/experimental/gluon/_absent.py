"""Names of the language that tile has not built yet: they say so."""

from __future__ import annotations

from typing import NoReturn

from tile.errors import TileError


class AbsentError(TileError, AttributeError):
    """A name of the language was used that tile does not have yet."""


#: By module (or class), as users write them after ``experimental``.
ABSENT = {
    "gluon": ("amd"),
    "gluon.language": ("fpsan"),
    "gluon.language.amd.cdna5": ("get_wmma_scale_layout load_shared_fp4_repacked tdm wmma_scaled"),
    "gluon.language.nvidia.rubin": ("add4 sub4 mul4 fma4"),
}


def refuse(place: str, name: str) -> NoReturn:
    """For `__getattr__` of a module or class: says in one sentence what is missing."""
    place = place.replace("tile.experimental.gluon", "gluon", 1)
    if name in ABSENT.get(place, "").split():
        raise AbsentError(f"{place}.{name} is not built in tile yet")
    raise AttributeError(f"{place} has no attribute {name!r}", name=name)
