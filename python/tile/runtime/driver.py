"""Which driver runs kernels."""

from __future__ import annotations

from typing import Any

from .. import knobs
from ..errors import DriverError


class DriverConfig:
    """``tile.runtime.driver``: `active` is the driver in use."""

    def __init__(self) -> None:
        self._active: Any = None

    @property
    def active(self) -> Any:
        """The driver; chosen at the first use, and kept."""
        active = self._active
        if active is None:
            active = self._active = _create(knobs.runtime.driver)
        return active

    @property
    def utils(self) -> Any:
        """Those of the driver in use, as older programs ask for them."""
        return self.active.utils

    def set_active(self, driver: Any) -> None:
        """Uses this driver from now on."""
        self._active = driver

    def reset_active(self) -> None:
        """Chooses again at the next use."""
        self._active = None


def _create(wanted: str) -> Any:
    from ..backends import drivers

    known = drivers()
    if wanted:
        if wanted not in known:
            raise DriverError(f"TILE_DRIVER is one of {', '.join(sorted(known))}, not {wanted!r}")
        return known[wanted]()
    for cls in sorted(known.values(), key=lambda d: d.priority):
        if cls.is_active():
            return cls()
    raise DriverError("no driver: no backend is installed")


driver = DriverConfig()
