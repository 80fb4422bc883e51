"""What a call of a kernel says: values, options, and what the kernel is compiled for."""

from __future__ import annotations

import re
from typing import Any

from .. import knobs
from ..backends import chosen_target, option_names
from ..errors import OutOfResources, TileError
from . import scalars
from . import specialize as sp
from .arguments import CONSTANT, SPECIALIZE, make_binder, mode_of, note_passed, plain, take_apart
from .definition import check_kernel, places
from .grids import extents_of


class Call:
    """How one kernel is called."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.name = fn.__name__
        check_kernel(fn)
        self.bind = make_binder(fn)
        self.modes = [mode_of(p) for p in fn.params]
        #: Constant parameters that are options too, such as `num_warps`.
        self.shared_options = [
            (i, p.name)
            for i, p in enumerate(fn.params)
            if p.is_constexpr and p.name in option_names()
        ]

    def bound(self, args: tuple, kwargs: dict, warmup: bool = False) -> tuple[tuple, dict]:
        """The values of all parameters, and the options. In a warm-up, a type stands for a tensor
        of it, but as a constant."""
        from .jit import MockTensor

        try:
            values, options = self.bind(*args, **kwargs)
        except TypeError as error:
            # A parameter that is misspelt is missing, too.
            self.check_options({n: v for n, v in kwargs.items() if n not in self.fn.arg_names})
            raise self.argument_error(error) from None
        if not warmup:
            return values, options
        stand_ins = (
            value if mode == CONSTANT else MockTensor.wrap_dtype(value)
            for value, mode in zip(values, self.modes, strict=True)
        )
        return tuple(stand_ins), options

    def grid(self, grid: Any, values: tuple) -> tuple[int, int, int]:
        """The extents of a grid, which may be a function of the arguments."""
        return extents_of(self, grid, values)

    def with_constants(self, kernel: Any, args: tuple) -> tuple | None:
        """The values of all parameters, given those that are no constants; None if `args` are
        not as many as these."""
        if len(args) != sum(mode != CONSTANT for mode in self.modes):
            return None
        constants, rest = kernel.src.constants, iter(args)
        return tuple(
            constants.get((i,)) if mode == CONSTANT else next(rest)
            for i, mode in enumerate(self.modes)
        )

    def with_defaults(self, values: tuple, options: dict) -> dict:
        """The options of a launch, with those that constants and the decorator give."""
        chosen = dict(options)
        for i, name in self.shared_options:
            if isinstance(values[i], int):
                chosen.setdefault(name, values[i])
        # The variable is for all kernels, whatever they say.
        if knobs.runtime.debug:
            chosen["debug"] = True
        elif self.fn.debug is not None:
            chosen.setdefault("debug", bool(self.fn.debug))
        return chosen

    def describe(self, values: tuple) -> tuple[dict, dict, dict]:
        """What the kernel is compiled for: the types of its parameters, the
        constants among them, and hints on the others."""
        signature: dict[str, Any] = {}
        constants: dict[tuple[int, ...], Any] = {}
        hints: dict[tuple[int, ...], Any] = {}
        for i, (p, mode) in enumerate(zip(self.fn.params, self.modes, strict=True)):
            if mode == CONSTANT:
                signature[p.name] = "constexpr"
                constants[(i,)] = plain(values[i])
                continue
            try:
                key = SPECIALIZE[mode](values[i])
            except TileError as error:
                raise self.refusal(
                    f"the argument `{p.name}`: {error}", p.name, isinstance(error, OverflowError)
                ) from None
            spec = sp.decode(key, values[i], (i,), constants, hints)
            if p.type_name is not None and isinstance(spec, str) and not spec.startswith("*"):
                if message := scalars.refusal(p.type_name, values[i]):
                    raise self.refusal(f"the argument `{p.name}`: {message}", p.name)
                spec = p.type_name
                constants.pop((i,), None)
                hints[(i,)] = sp.known_of(spec, hints.get((i,), []))
            if p.is_const and isinstance(spec, str) and spec.startswith("*"):
                spec = "*k" + spec[1:]
            signature[p.name] = spec
        return signature, constants, hints

    def check_options(self, options: dict) -> None:
        unknown = [name for name in options if name not in option_names()]
        if unknown:
            from ..hints import closest

            hint = closest(unknown[0], [*self.fn.arg_names, *sorted(option_names())])
            raise self.refusal(
                f"`{self.fn.__name__}` has no parameter `{unknown[0]}`, and no such option "
                f"exists; its parameters are {', '.join(self.fn.arg_names)}{hint}"
            )

    def checked(self, target: Any, options: dict) -> tuple[Any, dict]:
        """The target and the options of a launch, if the target takes these."""
        from ..compiler import make_backend
        from ..compiler.errors import RefusedOptions

        try:
            target, options = chosen_target(target, options)
            make_backend(target).parse_options(options)
        except OutOfResources as error:
            raise error.of(self.fn.__name__) from None
        except TileError as error:
            raise RefusedOptions(str(error), places(self.fn, None)) from None
        return target, options

    def arguments(self, kernel: Any, values: tuple) -> tuple:
        """What a launch passes, tuples and descriptors taken apart."""
        flat: list[Any] = []
        for name, value in zip(self.fn.arg_names, values, strict=True):
            take_apart(kernel.signature[name], value, flat)
        return tuple(flat)

    def passed(self, kernel: Any) -> list[bool]:
        """Which of the arguments, taken apart, a kernel takes."""
        flags: list[bool] = []
        for p, mode in zip(self.fn.params, self.modes, strict=True):
            if mode != CONSTANT:
                note_passed(kernel.signature[p.name], flags)
        return flags

    def argument_error(self, error: TypeError) -> Exception:
        text = str(error).replace("_options", "options")
        if not text.startswith(f"{self.fn.__name__}("):
            return error
        named = re.search(r"argument[^']*'(\w+)'", text)
        return self.refusal(
            text.replace(f"{self.fn.__name__}()", f"`{self.fn.__name__}`", 1),
            named.group(1) if named else None,
        )

    def refusal(
        self, message: str, parameter: str | None = None, too_large: bool = False
    ) -> TileError:
        """An error of a launch: its place is the kernel's, or a parameter's."""
        from ..compiler.errors import LaunchError, TooLargeArgument

        kind = TooLargeArgument if too_large else LaunchError
        return kind(message, places(self.fn, parameter))
