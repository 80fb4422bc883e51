"""The path from ``kernel[grid](...)`` to the driver."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from .. import _C, knobs
from ..errors import TileError
from . import descriptors
from . import specialize as sp
from .asynchronous import active_mode
from .driver import driver

#: Options of a compile that a launch may name.
OPTIONS = {
    "num_warps", "num_stages", "num_ctas", "maxnreg", "debug", "ptx_version", "ptx_options",
    "disable_passes", "prefetch",
    "enable_fp_fusion", "default_dot_input_precision", "max_num_imprecise_acc_default",
    "launch_cooperative_grid", "launch_pdl", "line_info", "opt_level", "ir_override",
    "sanitize_overflow", "instrumentation_mode",
}  # fmt: skip


def make_binder(fn: Any) -> Callable:
    """A function with the kernel's parameters that returns all arguments, and
    the options among the keywords. Python itself then binds and complains."""
    parameters = []
    namespace: dict[str, Any] = {}
    for i, p in enumerate(fn.params):
        if p.default is inspect.Parameter.empty:
            parameters.append(p.name)
        else:
            namespace[f"_d{i}"] = p.default
            parameters.append(f"{p.name}=_d{i}")
    arguments = "".join(p.name + ", " for p in fn.params)
    text = (
        f"def {fn.__name__}({', '.join([*parameters, '**_options'])}):\n"
        f"    return ({arguments}), _options\n"
    )
    exec(compile(text, f"<arguments of {fn.__name__}>", "exec"), namespace)
    return namespace[fn.__name__]


_VALUE, _UNALIGNED, _TYPE_ONLY, _CONSTANT = range(4)


def _mode(parameter: Any) -> int:
    """How a parameter's arguments are told apart."""
    if parameter.is_constexpr:
        return _CONSTANT
    if parameter.specialize_alignment:
        return _VALUE
    return _UNALIGNED if parameter.specialize else _TYPE_ONLY


_SPECIALIZE = {
    _VALUE: sp.specialize,
    _UNALIGNED: sp.specialize_without_alignment,
    _TYPE_ONLY: sp.specialize_type_only,
}


def _constant(value: Any) -> Any:
    """A constant as part of a key: hashable, and equal only to its like."""
    try:
        hash(value)
    except TypeError:
        if isinstance(value, (list, tuple)):
            return tuple(map(_constant, value))
        return repr(value)
    if isinstance(value, (tuple, float)):
        return (repr(value), value)
    return value


class Launcher:
    """Compiles and launches one kernel; knows what is compiled already."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn
        self.bind = make_binder(fn)
        self.modes = [_mode(p) for p in fn.params]
        self.dispatcher = _C.launch.Dispatcher(
            self.modes, *(_SPECIALIZE[m] for m in (_VALUE, _UNALIGNED, _TYPE_ONLY)), _constant
        )
        #: Constant parameters that are options too, such as `num_warps`.
        self.shared_options = [
            (i, p.name) for i, p in enumerate(fn.params) if p.is_constexpr and p.name in OPTIONS
        ]

    def __call__(self, grid: Any, warmup: bool, args: tuple, kwargs: dict) -> Any:
        values, options = self.bound(args, kwargs)
        active = driver.active
        if warmup:
            mode = active_mode()
            if mode is not None:
                return mode.submit(lambda: self.prepare(active, values, options)[0])
            return self.prepare(active, values, options)[0]
        device = active.get_current_device()
        x, y, z = self.grid(grid, values)
        stream = active.get_current_stream(device)
        chosen = tuple(options.items()) if options else None
        context = (active, device)
        kernel = self.dispatcher.launch(context, chosen, values, x, y, z, stream)
        if kernel is None:
            kernel, launch, runtime = self.prepare(active, values, options)
            active.check_arguments(kernel, [values[i] for i in runtime])
            if launch is None:
                launch = active.make_launcher(kernel, runtime_parameters(kernel))
            self.dispatcher.insert(context, chosen, values, kernel, launch, runtime)
            kernel = self.dispatcher.launch(context, chosen, values, x, y, z, stream)
        if kernel.__class__ is int:
            active.raise_launch_error(kernel, self.fn.__name__)
        return kernel

    def bound(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """The values of all parameters, and the options."""
        try:
            return self.bind(*args, **kwargs)
        except TypeError as error:
            raise self.argument_error(error) from None

    def grid(self, grid: Any, values: tuple) -> tuple[int, int, int]:
        if callable(grid):
            grid = grid(dict(zip(self.fn.arg_names, values, strict=False)))
        if grid.__class__ is not tuple:
            if isinstance(grid, (int,)) and not isinstance(grid, bool):
                grid = (grid,)
            elif isinstance(grid, list):
                grid = tuple(grid)
            else:
                raise self.refusal(
                    f"the grid of `{self.fn.__name__}` must be a tuple of 1 to 3 integers, or a "
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
            raise self.refusal(
                f"the grid of `{self.fn.__name__}` must have 1 to 3 dimensions, not {size}"
            )
        for extent in grid:
            if not hasattr(extent, "__index__") or extent < 0:
                raise self.refusal(
                    f"the grid of `{self.fn.__name__}` has the extent {extent!r}; extents are "
                    "integers from 0"
                )
        x = int(grid[0])
        y = int(grid[1]) if size > 1 else 1
        z = int(grid[2]) if size > 2 else 1
        if x > 0x7FFFFFFF or y > 65535 or z > 65535:
            raise self.refusal(
                f"the grid of `{self.fn.__name__}` is {(x, y, z)}, but a GPU allows at most "
                "(2147483647, 65535, 65535)"
            )
        return x, y, z

    def argument_error(self, error: TypeError) -> Exception:
        text = str(error).replace("_options", "options")
        if not text.startswith(f"{self.fn.__name__}("):
            return error
        named = re.search(r"argument[^']*'(\w+)'", text)
        return self.refusal(
            text.replace(f"{self.fn.__name__}()", f"`{self.fn.__name__}`", 1),
            named.group(1) if named else None,
        )

    def refusal(self, message: str, parameter: str | None = None) -> TileError:
        """An error of a launch: its place is the kernel's, or a parameter's."""
        from ..compiler.errors import CompilationError, Place, node_place

        try:
            parsed = self.fn.parse()
        except TileError:  # Without its source there is no place.
            return TileError(message)
        source, node = parsed.source, parsed.node
        spec = node.args
        for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            if arg.arg == parameter:
                place = node_place(arg, source.file, source.name, source.column_shift)
                return CompilationError(message, [place])
        column = node.col_offset + source.column_shift + len("def ")
        place = Place(source.file, node.lineno, column, column + len(source.name), source.name)
        return CompilationError(message, [place])

    def launch_compiled(self, kernel: Any, grid: Any, args: tuple, kwargs: dict) -> Any:
        """Launches a kernel that was compiled before, for whatever arguments."""
        values, _ = self.bound(args, kwargs)
        active = driver.active
        x, y, z = self.grid(grid, values)
        key = (active, active.get_current_device())
        launch = kernel.loaded.get(key)
        if launch is None:
            launch = active.make_launcher(kernel, runtime_parameters(kernel))
            kernel.loaded[key] = launch
        flat: list[Any] = []
        for name, value in zip(self.fn.arg_names, values, strict=True):
            _flatten(kernel.signature[name], value, flat)
        stream = active.get_current_stream(active.get_current_device())
        code = launch(x, y, z, stream, tuple(flat))
        if code.__class__ is int and code:
            active.raise_launch_error(code, self.fn.__name__)
        return kernel

    # Compiling.

    def prepare(self, active: Any, values: tuple, options: dict) -> Any:
        """Compiles: the kernel, its launch function if it is known already, and
        the indices of the arguments that exist at run time."""
        from ..compiler import ASTSource
        from ..compiler import compile as compile_kernel

        signature, constants, hints = self.describe(values)
        self.check_options(options)
        chosen = dict(options)
        for i, name in self.shared_options:
            if isinstance(values[i], int):
                chosen.setdefault(name, values[i])
        if self.fn.debug is not None or knobs.runtime.debug:
            chosen.setdefault("debug", bool(self.fn.debug) or knobs.runtime.debug)
        source = ASTSource(self.fn, signature, constants, hints)
        kernel = compile_kernel(
            source,
            target=active.get_current_target(),
            options=chosen,
            lazy_after=getattr(active, "last_stage", None),
        )
        kernel.signature = signature
        kernel.fn = self.fn
        names = self.fn.arg_names
        runtime = [i for i, name in enumerate(names) if signature[name] != "constexpr"]
        if any(_is_several(signature[names[i]]) for i in runtime):
            return kernel, self.flattening(active, kernel), list(range(len(values)))
        return kernel, None, runtime

    def describe(self, values: tuple) -> tuple[dict, dict, dict]:
        """What the kernel is compiled for: the types of its parameters, the
        constants among them, and hints on the others."""
        signature: dict[str, Any] = {}
        constants: dict[tuple[int, ...], Any] = {}
        hints: dict[tuple[int, ...], Any] = {}
        for i, (p, mode) in enumerate(zip(self.fn.params, self.modes, strict=True)):
            if mode == _CONSTANT:
                signature[p.name] = "constexpr"
                constants[(i,)] = _plain(values[i])
                continue
            key = _SPECIALIZE[mode](values[i])
            spec = sp.decode(key, values[i], (i,), constants, hints)
            if p.annotation is not None and isinstance(spec, str) and not spec.startswith("*"):
                spec = p.annotation
                constants.pop((i,), None)
            if p.is_const and isinstance(spec, str) and spec.startswith("*"):
                spec = "*k" + spec[1:]
            signature[p.name] = spec
        return signature, constants, hints

    def check_options(self, options: dict) -> None:
        unknown = [name for name in options if name not in OPTIONS]
        if unknown:
            raise self.refusal(
                f"`{self.fn.__name__}` has no parameter `{unknown[0]}`, and no such option "
                "exists; its parameters are "
                f"{', '.join(self.fn.arg_names)}"
            )

    def flattening(self, active: Any, kernel: Any) -> Callable:
        """A launch function for kernels with tuples or descriptors among their
        arguments."""
        launch = active.make_launcher(kernel, runtime_parameters(kernel))
        specs = [kernel.signature[n] for n in self.fn.arg_names]

        def flat(x: int, y: int, z: int, stream: Any, arguments: tuple, **options: Any) -> Any:
            result: list[Any] = []
            for spec, value in zip(specs, arguments, strict=False):
                _flatten(spec, value, result)
            return launch(x, y, z, stream, tuple(result), **options)

        return flat


def runtime_parameters(kernel: Any) -> dict[str, str]:
    """The names and types of what a launch passes, tuples and descriptors taken
    apart."""
    parameters: dict[str, str] = {}
    for name, spec in kernel.signature.items():
        types: list[str] = []
        _flatten(spec, spec, types)
        for i, ty in enumerate(types):
            part = f"{name}[{i}]" if isinstance(spec, tuple) or i > 0 else name
            parameters[part] = ty.replace("*k", "*")
    return parameters


def _is_several(spec: Any) -> bool:
    """Whether an argument is several at run time."""
    return isinstance(spec, tuple) or descriptors.is_descriptor(spec)


def _flatten(spec: Any, value: Any, result: list[Any]) -> None:
    if isinstance(spec, tuple):
        for s, v in zip(spec, value, strict=False):
            _flatten(s, v, result)
    elif descriptors.is_descriptor(spec):
        result += descriptors.types(spec) if value is spec else descriptors.values(value)
    elif spec != "constexpr":
        result.append(value)


def _plain(value: Any) -> Any:
    while type(value).__name__ == "constexpr":
        value = value.value
    return value


def launch_compiled(kernel: Any, grid: Any, *args: Any, **kwargs: Any) -> Any:
    """Launches a kernel that `warmup` or a launch returned."""
    fn = getattr(kernel, "fn", None)
    if fn is None:
        raise TileError("only kernels compiled from Python know their parameters")
    return fn.launcher().launch_compiled(kernel, grid, args, kwargs)


def simulate(fn: Any, grid: Any, args: tuple, kwargs: dict) -> Any:
    """Compiles and runs a kernel in the simulator, and returns the report."""
    from ..backends import drivers

    checks = kwargs.pop("check", None)
    simulator = drivers()["sim"]()
    launcher = Launcher(fn)
    values, options = launcher.bound(args, kwargs)
    kernel, launch, runtime = launcher.prepare(simulator, values, options)
    if launch is None:
        launch = simulator.make_launcher(kernel, runtime_parameters(kernel))
    x, y, z = launcher.grid(grid, values)
    extra = {} if checks is None else {"checks": checks}
    return launch(x, y, z, 0, tuple(values[i] for i in runtime), **extra)
