"""Compiling several kernels at once, in the threads or processes of an executor."""

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


class FutureFromCache(FutureKernel):
    """A kernel that another process compiles."""

    def __init__(
        self, finalize_compile: Callable[[Any], None], future: Future, find: Callable[[], Any]
    ) -> None:
        super().__init__(finalize_compile, future)
        self.find = find

    def result(self, ignore_errors: bool = False) -> Any:
        if self.kernel is None:
            try:
                # What went wrong there is said by a compile here.
                self.future.exception()
                self.kernel = self.find()
            except Exception:
                if ignore_errors:
                    return None
                raise
            self.finalize_compile(self.kernel)
        return self.kernel


def _done(compile: Callable[[], Any]) -> Future:
    """A future of what is compiled here and now."""
    from concurrent.futures import Future

    future: Future = Future()
    try:
        future.set_result(compile())
    except Exception as error:
        future.set_exception(error)
    return future


def _compile_from_text(module: str, name: str, data: str, target: Any, last: str | None) -> None:
    """In another process: compiles a function of a module, into the cache."""
    from ..compiler import compile
    from .preload import find_function, load

    source, options, _ = load(find_function(module, name), data, target)
    compile(source, target=target, options=options, lazy_after=last)


class AsyncCompileMode:
    """While it is entered, `warmup` only starts compiles; leaving waits.

    with tile.AsyncCompileMode(ThreadPoolExecutor()):
        a.warmup(..., grid=(1,))
        b.warmup(..., grid=(1,))

    The processes of a ProcessPoolExecutor compile functions of modules, into the cache.
    """

    def __init__(self, executor: Executor, *, ignore_errors: bool = False) -> None:
        self.executor = executor
        self.ignore_errors = ignore_errors
        self.kernels: dict[Future, FutureKernel] = {}
        self._forget: dict[Future, Callable[[], None]] = {}

    def compiles(self, kernel: Any) -> bool:
        """Whether a kernel is one that was begun here."""
        return isinstance(kernel, FutureKernel) and kernel.future in self.kernels

    def submit(
        self,
        compile: Callable[[], Any],
        describe: Callable[[], tuple | None],
        forget: Callable[[], None],
    ) -> FutureKernel:
        """Starts a compile. `describe` is asked for it in the words that another process needs,
        or None where it needs what is here. `forget` is called if it does not take place."""
        from concurrent.futures import ProcessPoolExecutor

        future, kernel = None, None
        if isinstance(self.executor, ProcessPoolExecutor):
            job = describe()
            if job is None:  # The others go on meanwhile.
                future = _done(compile)
            else:
                # It leaves the kernel in the cache, where it is found then.
                future = self.executor.submit(_compile_from_text, *job)
                kernel = FutureFromCache(lambda _: None, future, compile)
        future = future or self.executor.submit(compile)
        kernel = self.kernels[future] = kernel or FutureKernel(lambda _: None, future)
        self._forget[future] = forget
        return kernel

    def __enter__(self) -> AsyncCompileMode:
        if _mode.get() is not None:
            raise RuntimeError("another AsyncCompileMode is active")
        self._token = _mode.set(self)
        return self

    def __exit__(self, error: Any, *details: Any) -> None:
        from concurrent.futures import as_completed

        _mode.reset(self._token)
        if error is not None:  # Nobody waits for what has not begun.
            for future in [f for f in self.kernels if f.cancel()]:
                del self.kernels[future]
                self._forget[future]()
        for future in as_completed(self.kernels):
            self.kernels[future].result(self.ignore_errors)


def active_mode() -> AsyncCompileMode | None:
    """The mode that is entered, if one is."""
    return _mode.get()
