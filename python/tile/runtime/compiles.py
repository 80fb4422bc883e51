"""The compiles of one kernel: for a call, ahead of calls, and in other processes."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import knobs
from . import overlap
from .calls import Call
from .driver import driver
from .watch import Watch


class JitFunctionInfo(NamedTuple):
    """The function that a hook around compiles is told about."""

    module: str
    name: str
    jit_function: Any


class Compiles(Call):
    """Compiles one kernel for what calls say."""

    watch: Watch

    def __init__(self, fn: Any) -> None:
        super().__init__(fn)
        #: Kernels that `preload` compiled, until a launch asks for them.
        self.preloaded: dict[tuple, Any] = {}

    def prepare(self, active: Any, values: tuple, options: dict, is_warmup: bool = False) -> Any:
        """Compiles the kernel for these values of its parameters."""
        from ..compiler import compile as compile_kernel

        source, target, chosen = self.source(active, values, options)
        hooks = (knobs.runtime.jit_cache_hook, knobs.runtime.jit_post_compile_hook)
        caches = self.fn.device_caches
        key = caches.key(active.get_current_device(), values, options)
        told = (key, source, target, chosen, is_warmup)

        def compile(**more: Any) -> Any:
            return compile_kernel(
                source,
                target=target,
                options={**chosen, **more},
                lazy_after=getattr(active, "last_stage", None),
            )

        kernel = self.preloaded.pop(self.preload_key(source, target, chosen), None)
        is_new = kernel is None
        if is_new:
            self.tell(hooks[0], *told)
            kernel = compile()
        #: For arguments that this one takes to be disjoint, and are not.
        kernel.for_overlapping_arguments = lambda: compile(**{overlap.OPTION: True})
        # Programs may look into them later.
        caches[active.get_current_device()][0][key] = kernel
        self.watch.remember_references()
        self.watch.remember_constants(kernel, source.constants)
        if is_new:
            self.tell(hooks[1], *told)
        return kernel

    def source(self, active: Any, values: tuple, options: dict) -> tuple[Any, Any, dict]:
        """What is compiled for these values, for which target, with which options."""
        from ..compiler import ASTSource

        signature, constants, hints = self.describe(values)
        self.check_options(options)
        self.watch.check()
        chosen = self.with_defaults(values, options)
        source = ASTSource(self.fn, signature, constants, hints)
        return source, *self.checked(active.get_current_target(), chosen)

    def in_words(self, active: Any, values: tuple, options: dict) -> tuple | None:
        """What another process compiles the kernel from; None if it cannot."""
        from . import preload

        if preload.find_function(self.fn.module, self.fn.__qualname__) is not self.fn:
            return None
        source, target, chosen = self.source(active, values, options)
        key = self.fn.device_caches.key(active.get_current_device(), values, options)
        data = preload.specialization_data(source, target, chosen, key)
        last = getattr(active, "last_stage", None)
        return data and (self.fn.module, self.fn.__qualname__, data, target, last)

    def preload(self, data: str) -> Any:
        """Compiles the kernel for what another process compiled it for."""
        from ..compiler import compile as compile_kernel
        from . import preload

        active = driver.active
        target = active.get_current_target()
        source, options, key = preload.load(self.fn, data, target)
        last = getattr(active, "last_stage", None)
        kernel = compile_kernel(source, target=target, options=options, lazy_after=last)
        self.preloaded[self.preload_key(source, target, options)] = kernel
        self.fn.device_caches[active.get_current_device()][0][key] = kernel
        return kernel

    @staticmethod
    def preload_key(source: Any, target: Any, options: dict) -> tuple:
        return source.hash(), target, tuple(sorted(options.items()))

    def tell(
        self, hook: Any, key: str | None, source: Any, target: Any, options: dict, is_warmup: bool
    ) -> None:
        """Calls a hook around compiles, if there is one."""
        if hook is None:
            return
        from .preload import specialization_data

        types = ", ".join(f"{name}: {spec}" for name, spec in source.signature.items())
        details = {
            "signature": source.signature, "constants": source.constants, "target": target,
            "attrs": source.attrs, "key": key, "is_warmup": is_warmup, **options,
            "specialization_data": specialization_data(source, target, options, key),
            "device": driver.active.get_current_device(), "configs": [source.attrs],
        }  # fmt: skip
        # Of `device_caches`, where hooks find the kernel; preloaded ones are not there yet.
        hook(
            key=key or source.hash(), repr=f"{self.name}[{options}]({types})",
            fn=JitFunctionInfo(self.fn.module, self.fn.__qualname__, self.fn), compile=details,
            is_manual_warmup=is_warmup, already_compiled=False,
        )  # fmt: skip
