"""What ``triton.runtime.errors`` has beside our own names."""

from __future__ import annotations

from tile.errors import TritonError


class AutotunerError(TritonError):
    """Autotuning found nothing to run."""

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "autotuning failed")
