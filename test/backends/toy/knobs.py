"""The settings of the toy backend: ``tile.knobs.toy``."""

from __future__ import annotations

from tile.settings import Group, text


class ToyKnobs(Group):
    prefix = text("TILE_TOY_PREFIX", "v", "What the names of values begin with.")


KNOBS = ToyKnobs()
