"""The path from ``kernel[grid](...)`` to the driver."""

from __future__ import annotations

import functools
import threading
from typing import Any

from .. import _C, knobs
from ..backends import find_backend
from ..errors import TileError
from ..tracebacks import entry_point
from . import overlap
from .asynchronous import FutureKernel, active_mode
from .compiles import Compiles
from .dispatching import make_dispatcher
from .driver import driver
from .runner import launch_hooks, load
from .watch import Watch


def _hashable(value: Any) -> Any:
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


#: A launch begins again without tensor maps where there are none for its arguments, and where a
#: hook, or an argument, unloads its kernel.
_MOST_TRIES = 4


def without_tensor_maps(active: Any, kernel: Any, options: dict) -> dict:
    """The options of a launch for which a kernel lacks a tensor map."""
    backend = find_backend(active.get_current_target())
    return {**options, **backend.without_tensor_maps(kernel)}


class Launcher(Compiles):
    """Compiles and launches one kernel; knows what is compiled already."""

    def __init__(self, fn: Any) -> None:
        super().__init__(fn)
        self.is_described = fn.launch_metadata is not None
        self.dispatcher = make_dispatcher(fn, self.modes, self.launch)
        self.watch = Watch(fn, self.dispatcher)
        #: Held while a kernel is loaded; loading may call hooks that launch it.
        self.loading = threading.RLock()

    @entry_point
    def launch(self, grid: Any, args: tuple, kwargs: dict) -> Any:
        """A launch that the dispatcher leaves to Python."""
        warmup = False
        if "warmup" in kwargs and "warmup" not in self.fn.arg_names:
            warmup = kwargs.pop("warmup")
        for hook in self.fn.pre_run_hooks:
            hook(*args, **kwargs)
        if knobs.interpreting():
            from ..interpreter import interpret

            return interpret(self.fn, grid, args, kwargs, warmup)
        values, options = self.bound(args, kwargs, warmup)
        # Options are part of keys.
        options = with_mode({n: _hashable(value) for n, value in options.items()})
        if warmup:
            return self.warmup(values, options)
        return self.run(grid, values, options)

    def warmup(self, values: tuple, options: dict) -> Any:
        """Compiles without launching."""
        active = driver.active
        mode = active_mode()
        if mode is None:
            return self.prepare(active, values, options, is_warmup=True)
        device = active.get_current_device()
        kernels = self.fn.device_caches[device][0]
        key = self.fn.device_caches.key(device, values, options)

        def compile() -> Any:
            try:
                return self.prepare(active, values, options, is_warmup=True)
            except Exception:
                forget()
                raise

        def forget() -> None:
            kernels.pop(key, None)  # It may be tried again.

        if not mode.compiles(kernels.get(key)):
            in_words = functools.partial(self.in_words, active, values, options)
            kernels[key] = mode.submit(compile, in_words, forget)
        return kernels[key]

    def under_way(self, active: Any, values: tuple, options: dict) -> FutureKernel | None:
        """The kernel for these values, if an `AsyncCompileMode` compiles it."""
        mode = active_mode()
        if mode is None:
            return None
        found = self.fn.device_caches.lookup(active.get_current_device(), values, options)
        return found if mode.compiles(found) else None

    def run(self, grid: Any, values: tuple, options: dict) -> Any:
        active = driver.active
        device = active.get_current_device()
        active.enter_device(device)
        x, y, z = self.grid(grid, values)
        stream = active.get_current_stream(device)
        self.watch.check()
        entry = self.compiled(active, device, values, options)
        enter, exit = launch_hooks(self.is_described)
        metadata = None
        if enter or exit:
            # Hooks are told about the kernel that runs, once.
            while not self.dispatcher.has_tensor_maps(entry, active, device, values):
                without = without_tensor_maps(active, entry.kernel, options)
                if options == without:
                    break
                options = without
                entry = self.compiled(active, device, values, options)
            entry.kernel._init_handles()
            metadata = entry.kernel.launch_metadata((x, y, z), stream, *values)
        for hook in enter:
            hook(metadata)
        for _ in range(_MOST_TRIES):
            result = self.dispatcher.launch(entry, active, device, stream, values, x, y, z)
            if result.__class__ is not int or result >= 0:
                break
            if result == _C.launch.NO_TENSOR_MAP:
                without = without_tensor_maps(active, entry.kernel, options)
                if options == without:
                    break
                options = without
            entry = self.compiled(active, device, values, options)
        for hook in exit:
            hook(metadata)
        if result.__class__ is int:
            active.raise_launch_error(result, self.name)
        return entry.kernel

    def compiled(self, active: Any, device: int, values: tuple, options: dict) -> Any:
        """The kernel for these values, loaded on a device, as the dispatcher has it."""
        place = (active, device, (*options.items(), *_hook_key()) or None, values)
        try:
            entry = self.dispatcher.find(*place)
        except TileError:
            self.describe(values)  # Says which argument it is.
            raise
        if entry is not None:
            return entry
        pending = self.under_way(active, values, options)
        kernel = pending.result() if pending else self.prepare(active, values, options)
        active.check_arguments(kernel, self.arguments(kernel, values))
        with self.loading:
            # Another thread may have compiled the same meanwhile: it is loaded once.
            entry = self.dispatcher.find(*place)
            if entry is None:
                launch = load(kernel, active, device)
                entry = self.dispatcher.insert(
                    *place, kernel, launch, self.passed(kernel), *overlap.direct(launch)
                )
        return entry

    def launch_compiled(self, kernel: Any, grid: Any, args: tuple, kwargs: dict) -> Any:
        """Launches a kernel that was compiled before, for whatever arguments."""
        try:
            values, _ = self.bound(args, kwargs)
        except TileError:
            # Libraries leave out the constants for new releases, as FlagGems does.
            values = self.with_constants(kernel, args)
            if kwargs or values is None:
                raise
        active = driver.active
        stream = active.get_current_stream(active.get_current_device())
        kernel.run(*self.grid(grid, values), stream, None, None, None, None, None, *values)
        return kernel


def _hook_key() -> tuple:
    """What a hook that changes the stages says of itself: another kernel is made with it."""
    hook = knobs.runtime.add_stages_inspection_hook
    return () if hook is None else (("add_stages_inspection_hook", repr(hook())),)


def with_mode(options: dict) -> dict:
    """The options of a launch. In a mode of instrumentation its kernel is another one, also for the
    dispatcher."""
    mode = knobs.compilation.instrumentation_mode
    return {"instrumentation_mode": mode, **options} if mode else options
