"""What ``triton.experimental.gluon.language._core`` has beside our own names."""

from __future__ import annotations

from tile.compat.additions.language.core import _unwrap_if_constexpr as _unwrap_if_constexpr
