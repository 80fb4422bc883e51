"""The hook of the backend `instrumentation`: kernels are compiled with records."""

from __future__ import annotations

from typing import Any

from ... import knobs
from ..flags import flags
from ..mode import InstrumentationMode
from .hook import Hook


class InstrumentationHook(Hook):
    """While it is active, launches run kernels that record. The mode is an option of each launch:
    none takes a kernel that was compiled without records."""

    priority = 0
    hears_all_launches = False

    def __init__(self, mode: InstrumentationMode) -> None:
        self.mode = mode
        #: What the program had set, which is put back.
        self._before: str | None = None

    def activate(self) -> None:
        flags.instrumentation_on = True
        self._before = vars(knobs.compilation).get("instrumentation_mode")
        knobs.compilation.instrumentation_mode = str(self.mode)

    def deactivate(self) -> None:
        flags.instrumentation_on = False
        if self._before is None:
            del knobs.compilation.instrumentation_mode
        else:
            knobs.compilation.instrumentation_mode = self._before

    def init_handle(self, *args: Any) -> None:
        pass

    def enter(self, metadata: Any) -> None:
        pass

    def exit(self, metadata: Any) -> None:
        pass


__all__ = ["InstrumentationHook"]
