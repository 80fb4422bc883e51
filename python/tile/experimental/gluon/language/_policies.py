"""How caches treat what is loaded and stored."""

from __future__ import annotations

import dataclasses
from typing import Any

from tile.errors import SemanticError
from tile.language.values import unwrap

_PRIORITIES = ("evict_first", "evict_last", "evict_normal", "evict_unchanged")


@dataclasses.dataclass(frozen=True)
class CachePolicy:
    """The level of the cache, and what it drops first, in one value."""

    cache_modifier: str = "none"
    eviction_policy: str = "evict_normal"

    def hints(self) -> tuple[str | None, str | None]:
        """Like the arguments `cache_modifier` and `eviction_policy`."""
        cache = None if self.cache_modifier in ("none", "") else self.cache_modifier
        evict = None if self.eviction_policy == "evict_normal" else self.eviction_policy
        return cache, evict


@dataclasses.dataclass(frozen=True)
class FractionalEvictionPolicy:
    """A part of the accesses has one priority in the L2 cache, the others have another one."""

    primary: str
    fraction: float
    secondary: str = "evict_unchanged"

    def __post_init__(self) -> None:
        for name in ("primary", "secondary"):
            priority = unwrap(getattr(self, name))
            if priority not in _PRIORITIES:
                raise SemanticError(f"{name} is one of {', '.join(_PRIORITIES)}, not {priority!r}")
        if not 0 < unwrap(self.fraction) <= 1:
            raise SemanticError(f"fraction is above 0, up to 1, not {self.fraction!r}")


@dataclasses.dataclass(frozen=True)
class NvidiaCachePolicy:
    """The same by level of the cache."""

    cache_modifier: str | None = None
    l1: str | None = None
    l2: FractionalEvictionPolicy | None = None
    l2_prefetch_size: int | None = None

    def __post_init__(self) -> None:
        l2 = unwrap(self.l2)
        if l2 is not None and not isinstance(l2, FractionalEvictionPolicy):
            raise SemanticError(f"l2 is a FractionalEvictionPolicy, not {l2!r}")

    def hints(self) -> tuple[str | None, str | None]:
        for name in ("l1", "l2_prefetch_size"):
            if unwrap(getattr(self, name)) is not None:
                raise SemanticError(f"tile has no code for `{name}` of a CachePolicy")
        evict, l2 = None, unwrap(self.l2)
        if l2 is not None and l2.primary != "evict_normal":
            if l2.primary == "evict_unchanged" or l2.fraction != 1:
                raise SemanticError(
                    "tile has code for evict_first and evict_last of all accesses (fraction 1.0), "
                    f"not for {l2}"
                )
            evict = l2.primary
        return unwrap(self.cache_modifier), evict


NvidiaCachePolicy.__name__ = NvidiaCachePolicy.__qualname__ = "CachePolicy"


def cache_hints(cache_modifier: Any, eviction_policy: Any, cache_policy: Any) -> tuple[Any, Any]:
    """The modifier and the policy that an access asks for, in one way or the other."""
    policy = unwrap(cache_policy)
    if policy is None:
        return cache_modifier, eviction_policy
    if not isinstance(policy, (CachePolicy, NvidiaCachePolicy)):
        raise SemanticError(f"cache_policy is a CachePolicy, not {policy!r}")
    if unwrap(cache_modifier) is not None or unwrap(eviction_policy) is not None:
        raise SemanticError(
            "cache_policy says all: cache_modifier and eviction_policy are left out beside it"
        )
    return policy.hints()
