"""The grids of launches."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calls import Call


class _GridArguments(dict):
    """What a grid function is called with: the arguments by name."""

    def __init__(self, call: Call, arguments: Any) -> None:
        super().__init__(arguments)
        self.call = call

    def __missing__(self, name: str) -> Any:
        from ..hints import closest

        raise self.call.refusal(
            f"the grid of `{self.call.fn.__name__}` asks for {name!r}, which is no parameter; "
            f"its parameters are {', '.join(self)}{closest(str(name), self)}"
        )


def _takes_arguments(function: Any) -> bool:
    """Whether a function may be called with one argument."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_argcount:
        return True
    return bool(code.co_flags & inspect.CO_VARARGS)


def extents_of(call: Call, grid: Any, values: tuple) -> tuple[int, int, int]:
    """The three extents of a grid: integers, or a function of the arguments that returns them."""
    if callable(grid):
        if not _takes_arguments(grid):
            raise call.refusal(
                f"the grid of `{call.fn.__name__}` is a function without a parameter; it is called "
                "with a dictionary of the arguments, as in lambda meta: (meta['n'],)"
            )
        grid = grid(_GridArguments(call, zip(call.fn.arg_names, values, strict=False)))
    if grid.__class__ is not tuple:
        if isinstance(grid, (int,)) and not isinstance(grid, bool):
            grid = (grid,)
        elif isinstance(grid, list):
            grid = tuple(grid)
        else:
            raise call.refusal(
                f"the grid of `{call.fn.__name__}` must be a tuple of 1 to 3 integers, or a "
                "function that returns "
                f"one, not {grid!r}"
            )
    size = len(grid)
    if size == 3:
        x, y, z = grid
        if x.__class__ is int and y.__class__ is int and z.__class__ is int:
            if 0 <= x < 2147483648 and 0 <= y < 65536 and 0 <= z < 65536:
                return grid
    elif size == 1:
        x = grid[0]
        if x.__class__ is int and 0 <= x < 2147483648:
            return x, 1, 1
    if not 1 <= size <= 3:
        raise call.refusal(
            f"the grid of `{call.fn.__name__}` must have 1 to 3 dimensions, not {size}"
        )
    for extent in grid:
        if not hasattr(extent, "__index__") or extent < 0:
            raise call.refusal(
                f"the grid of `{call.fn.__name__}` has the extent {extent!r}; extents are "
                "integers from 0"
            )
    x = int(grid[0])
    y = int(grid[1]) if size > 1 else 1
    z = int(grid[2]) if size > 2 else 1
    if x > 0x7FFFFFFF or y > 65535 or z > 65535:
        raise call.refusal(
            f"the grid of `{call.fn.__name__}` is {(x, y, z)}, but a GPU allows at most "
            "(2147483647, 65535, 65535)"
        )
    return x, y, z
