"""Compiling several kernels at once, in the threads of an executor."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Not part of what `import tile` costs.
    from concurrent.futures import Executor, Future

_mode: ContextVar[Any] = ContextVar("tile_async_compile", default=None)


class FutureKernel:
    """A kernel that is being compiled; attributes wait for it."""

    def __init__(self, finalize_compile: Callable[[Any], None], future: Future) -> None:
        self.finalize_compile = finalize_compile
        self.future = future
        self.kernel: Any = None

    def result(self, ignore_errors: bool = False) -> Any:
        """The compiled kernel. Waits for it."""
        if self.kernel is None:
            try:
                kernel = self.future.result()
            except Exception:
                if ignore_errors:
                    return None
                raise
            self.finalize_compile(kernel)
            self.kernel = kernel
        return self.kernel

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result(), name)


class AsyncCompileMode:
    """While it is entered, `warmup` only starts compiles; leaving waits.

    with tile.AsyncCompileMode(ThreadPoolExecutor()):
        a.warmup(..., grid=(1,))
        b.warmup(..., grid=(1,))
    """

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.kernels: dict[Future, FutureKernel] = {}

    def submit(self, compile: Callable[[], Any]) -> FutureKernel:
        future = self.executor.submit(compile)
        kernel = self.kernels[future] = FutureKernel(lambda _: None, future)
        return kernel

    def __enter__(self) -> AsyncCompileMode:
        if _mode.get() is not None:
            raise RuntimeError("another AsyncCompileMode is active")
        self._token = _mode.set(self)
        return self

    def __exit__(self, *error: Any) -> None:
        from concurrent.futures import as_completed

        _mode.reset(self._token)
        for future in as_completed(self.kernels):
            self.kernels[future].result(self.ignore_errors)


def active_mode() -> AsyncCompileMode | None:
    """The mode that is entered, if one is."""
    return _mode.get()
