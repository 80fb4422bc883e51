"""What ``triton.runtime.errors`` has beside our own names."""

from __future__ import annotations

from tile.errors import AutotunerError as AutotunerError
from tile.errors import TritonError as TritonError
