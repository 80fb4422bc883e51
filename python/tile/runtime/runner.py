"""Launches of kernels that are compiled: loading them, and ``kernel.run``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _C, knobs
from ..backends import find_backend
from ..errors import TileError
from . import bounds, descriptors, hidden, overlap
from .arguments import runtime_parameters, take_apart
from .driver import driver


def launch_hooks(is_described: bool) -> tuple[list[Any], list[Any]]:
    """What is called before and after a launch of a kernel, with a `launch_metadata` or without."""
    runtime = knobs.runtime
    enter, exit = [runtime.launch_enter_hook], [runtime.launch_exit_hook]
    if is_described:
        enter.append(runtime.described_enter_hook)
        exit.insert(0, runtime.described_exit_hook)
    return [hook for hook in enter if hook], [hook for hook in exit if hook]


def load(kernel: Any, active: Any, device: Any) -> Callable:
    """What launches a kernel on a device; loaded once."""
    key = (active, device)
    launch = kernel.loaded.get(key)
    if launch is None:
        start, end = knobs.runtime.kernel_load_start_hook, knobs.runtime.kernel_load_end_hook
        if start:
            start(None, None, kernel.name, kernel.metadata_group, kernel.hash)
        launch = kernel.loaded[key] = make_launch(kernel, active)
        if end:
            end(*kernel.handles(key), kernel.name, kernel.metadata_group, kernel.hash)
    return launch


def make_launch(kernel: Any, active: Any) -> Callable:
    """What launches a kernel, or a variant of it where its arguments overlap."""

    def variant() -> Callable:
        recompile = getattr(kernel, "for_overlapping_arguments", None)
        if recompile is None:
            raise TileError(
                f"arguments of `{kernel.name}` overlap, and it was compiled for others; compile "
                f"it with {overlap.OPTION}=True"
            )
        other = recompile()
        kernel.variants.append(other)
        return _launcher(other, active)

    launch = _launcher(kernel, active)
    return overlap.checked(kernel, launch, variant, active.allocation_of, active.raise_launch_error)


def _launcher(kernel: Any, active: Any) -> Callable:
    """What launches a kernel, which may also ask for the memory of its arguments."""
    known = runtime_parameters(kernel)
    if not kernel._metadata.get("takes_bounds"):
        return active.make_launcher(kernel, known)
    launch = active.make_launcher(kernel, bounds.parameters(known))
    return bounds.passing(kernel, known, launch, active.allocation_of)


class Runner:
    """``kernel.run``: launches a compiled kernel as other programs' launchers
    call it, on whatever device is current."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        fn = kernel.fn
        check_parameters(kernel)
        self.is_described = fn is not None and fn.launch_metadata is not None
        self.specs = [kernel.signature[n] for n in (fn.arg_names if fn else kernel.signature)]
        #: The same kernel without some tensor maps, once it is needed, by its options.
        self.variants: dict[tuple[str, ...], Any] = {}
        #: Which arguments are passed on, where they are passed as they are.
        self.passed: list[int] | None = None
        if all(type(s) is str and not descriptors.is_descriptor(s) for s in self.specs):
            self.passed = [i for i, s in enumerate(self.specs) if s != "constexpr"]
        active, _ = self.load()
        #: The driver and the device where it was loaded first.
        self.first_place = (active, active.get_current_device())

    def load(self) -> tuple[Any, Callable]:
        """The driver, and the launch function on its current device."""
        active = driver.active
        device = active.get_current_device()
        active.enter_device(device)
        return active, load(self.kernel, active, device)

    def launch_without_maps(self, active: Any, *launched: Any) -> Any:
        """Launches the kernel where no tensor map describes what its arguments say."""
        kernel, options = self.kernel, {}
        backend = find_backend(active.get_current_target())
        code: Any = _C.launch.NO_TENSOR_MAP
        while code.__class__ is int and code == _C.launch.NO_TENSOR_MAP:
            more = {**options, **backend.without_tensor_maps(kernel)}
            if more == options or self.kernel.compiled_again is None:
                break
            options = more
            kernel = self.variants.get(tuple(options))
            if kernel is None:
                kernel = self.variants[tuple(options)] = self.kernel.compiled_again(**options)
                self.kernel.variants.append(kernel)
            code = load(kernel, active, active.get_current_device())(*launched)
        return code

    def __call__(
        self, x: int, y: int, z: int, stream: Any, function: Any, packed_metadata: Any,
        launch_metadata: Any, enter_hook: Any, exit_hook: Any, *arguments: Any,
    ) -> None:  # fmt: skip
        active, launch = self.load()
        if enter_hook:
            enter_hook(launch_metadata)
        # Other programs pass on the hooks of all launches, and know no others.
        described_hook = knobs.runtime.described_enter_hook if self.is_described else None
        if described_hook:
            told = self.kernel.launch_metadata((x, y, z), stream, *arguments)
            described_hook(told)
        if len(arguments) != len(self.specs):
            raise TileError(
                f"`{self.kernel.name}` has {len(self.specs)} parameters, not {len(arguments)}"
            )
        if self.passed is not None:
            flat = [arguments[i] for i in self.passed]
        else:
            flat = []
            for spec, value in zip(self.specs, arguments, strict=True):
                take_apart(spec, value, flat)
        # An empty grid runs nothing.
        code = launch(x, y, z, stream, tuple(flat)) if x and y and z else 0
        if code.__class__ is int and code == _C.launch.NO_TENSOR_MAP:
            with hidden.any_memory():
                code = launch(x, y, z, stream, tuple(flat))
        if code.__class__ is int and code == _C.launch.NO_TENSOR_MAP:
            code = self.launch_without_maps(active, x, y, z, stream, tuple(flat))
        if code.__class__ is int and code:
            active.raise_launch_error(code, self.kernel.name)
        if described_hook:
            knobs.runtime.described_exit_hook(told)
        if exit_hook:
            exit_hook(launch_metadata)


def launch_compiled(kernel: Any, grid: Any, *args: Any, **kwargs: Any) -> Any:
    """Launches a kernel that `warmup` or a launch returned."""
    if (fn := kernel.fn) is not None:
        return fn.launcher().launch_compiled(kernel, grid, args, kwargs)
    check_parameters(kernel)
    sizes = (grid,) if isinstance(grid, int) else tuple(grid)
    if not 1 <= len(sizes) <= 3:
        raise TileError(f"the grid of `{kernel.name}` has 1 to 3 dimensions, not {len(sizes)}")
    names = list(kernel.signature)
    try:
        values = [*args, *(kwargs.pop(name) for name in names[len(args) :])]
    except KeyError as missing:
        raise TileError(f"`{kernel.name}` lacks the parameter `{missing.args[0]}`") from None
    if kwargs:
        raise TileError(f"`{kernel.name}` has no parameter `{next(iter(kwargs))}`")
    x, y, z = (*map(int, sizes), 1, 1)[:3]
    active = driver.active
    stream = active.get_current_stream(active.get_current_device())
    kernel.run(x, y, z, stream, None, None, None, None, None, *values)
    return kernel


def check_parameters(kernel: Any) -> None:
    """Refuses a kernel of which nobody knows what a launch has to pass."""
    if kernel.fn is None and not kernel.signature:
        raise TileError(
            f"`{kernel.name}` does not say its parameters: only kernels of Python, and those of "
            "files with tensors (.ttir, .ttgir) whose parameters are numbers and pointers, do"
        )
