"""What the shell completes: targets, kernels in the cache, kernels that were tuned."""

from __future__ import annotations

from collections.abc import Iterable

import click


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})


def targets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Targets, as in cuda:90."""
    from .. import _C
    from ..backends import kinds

    known = (str(target) for kind in kinds() for target in _C.targets.known(kind))
    return _beginning(known, incomplete)


def kernels(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Kernels in the cache."""
    from ..runtime.cache import entries

    return _beginning((name for entry in entries() for name in entry.kernels), incomplete)


def tuned(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Kernels that were tuned."""
    from ..runtime.tuning import choices

    return _beginning((choice.kernel for _, choice in choices()), incomplete)
