"""What translated kernels are for."""

from __future__ import annotations

import enum


class TranslatorTarget(enum.Enum):
    """A GPU, or any of them."""

    GENERIC = "generic"
    SM80 = "sm80"
    SM90 = "sm90"
    SM100 = "sm100"
    SM103 = "sm103"
    SM107 = "sm107"
    GFX90A = "gfx90a"
    GFX942 = "gfx942"
    GFX950 = "gfx950"
    GFX1250 = "gfx1250"

    @property
    def is_nvidia(self) -> bool:
        return self.value.startswith("sm")
