"""Autotuning: trying configurations, and remembering the best."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import knobs
from ..errors import CompilerToolError, OutOfResources, TileError
from .jit import KernelInterface


class Config:
    """One configuration: values of constants, and options of the compile."""

    def __init__(
        self,
        kwargs: dict[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        options = {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "num_ctas": self.num_ctas,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def _key(self) -> tuple:
        return (tuple(sorted(self.all_kwargs().items(), key=lambda item: item[0])), self.pre_hook)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(repr(self._key()))

    def __str__(self) -> str:
        return ", ".join(f"{k}: {v}" for k, v in self.all_kwargs().items())

    __repr__ = __str__


class Autotuner(KernelInterface):
    """A kernel whose constants are chosen by measuring."""

    def __init__(
        self,
        fn: Any,
        arg_names: list[str],
        configs: list[Config],
        key: list[str],
        reset_to_zero: list[str] | None = None,
        restore_value: list[str] | None = None,
        pre_hook: Callable | None = None,
        post_hook: Callable | None = None,
        prune_configs_by: dict[str, Any] | None = None,
        warmup: int | None = None,
        rep: int | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable | None = None,
        cache_results: bool = False,
    ) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.configs = list(configs) or [Config({})]
        for name in key:
            if name not in arg_names:
                raise TileError(
                    f"autotune's key names `{name}`, which is not a parameter of the kernel"
                )
        self.keys = key
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.pre_hook = pre_hook
        self.post_hook = post_hook
        prune = prune_configs_by or {}
        self.perf_model = prune.get("perf_model")
        self.configs_top_k = prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.warmup_ms = 25 if warmup is None else warmup
        self.rep_ms = 100 if rep is None else rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self.cache_results = cache_results or knobs.autotuning.cache
        self.cache: dict[tuple, Config] = {}
        self.best_config: Config | None = None
        self.configs_timings: dict[Config, list[float]] = {}
        self.bench_time = 0.0
        base = fn
        while hasattr(base, "fn") and not hasattr(base, "params"):
            base = base.fn
        self.base_fn = base
        self.__name__ = getattr(base, "__name__", "kernel")

    @property
    def do_bench(self) -> Callable:
        if self._do_bench is not None:
            return self._do_bench
        from .. import testing

        if self.use_cuda_graph:
            return lambda call, quantiles: testing.do_bench_cudagraph(
                call, rep=self.rep_ms, quantiles=quantiles
            )
        return lambda call, quantiles: testing.do_bench(
            call, warmup=self.warmup_ms, rep=self.rep_ms, quantiles=quantiles
        )

    def run(self, *args: Any, **kwargs: Any) -> Any:
        nargs = dict(zip(self.arg_names, args, strict=False))
        named = {**nargs, **{k: v for k, v in kwargs.items() if k in self.arg_names}}
        config = self.configs[0]
        if len(self.configs) > 1:
            key = self.key_of(named)
            known = self.cache.get(key)
            if known is None and knobs.interpreting():
                # How long the interpreter takes says nothing.
                known = self.prune(named, kwargs)[0]
            elif known is None and not kwargs.get("warmup"):
                known = self.cache[key] = self.tune(key, args, named, kwargs)
            config = known or config
        self.best_config = config
        if config.pre_hook is not None:
            config.pre_hook({**named, **config.all_kwargs()})
        return self.fn.run(*args, **{**kwargs, **self.usable(config)})

    def usable(self, config: Config) -> dict[str, Any]:
        return {k: v for k, v in config.all_kwargs().items() if k != "ir_override" or v is not None}

    def key_of(self, named: dict[str, Any]) -> tuple:
        """What the choice depends on: the key's values, and all types."""
        values = [named.get(k) for k in self.keys]
        types = [str(v.dtype) for v in named.values() if hasattr(v, "dtype")]
        return (*values, *types)

    def tune(
        self, key: tuple, args: tuple, named: dict[str, Any], kwargs: dict[str, Any]
    ) -> Config:
        configs = self.prune(named, kwargs)
        stored = self.disk_path(key, configs)
        if stored is not None:
            found = _read_choice(stored, configs)
            if found is not None:
                return found
        start = time.perf_counter()
        timings = {config: self.measure(config, args, named, kwargs) for config in configs}
        self.bench_time = time.perf_counter() - start
        self.configs_timings = timings
        # Ties go to the configuration listed first, so that the choice repeats.
        best = min(timings, key=lambda c: timings[c][0])
        if timings[best][0] == float("inf"):
            raise TileError(
                f"none of the {len(configs)} configurations of `{self.__name__}` can run"
            )
        if knobs.autotuning.print:
            print(
                f"Autotuning {self.__name__} with key {key} took {self.bench_time:.2f} s; best: "
                f"{best}"
            )
        if stored is not None:
            _write_choice(stored, best)
        return best

    def prune(self, named: dict[str, Any], kwargs: dict[str, Any]) -> list[Config]:
        configs = self.configs
        if self.early_config_prune is not None:
            configs = list(self.early_config_prune(configs, named, **kwargs))
            if not configs:
                raise TileError(f"early_config_prune left no configuration of `{self.__name__}`")
        if self.perf_model is not None:
            top = self.configs_top_k
            count = (
                int(len(self.configs) * top) if isinstance(top, float) and top <= 1.0 else int(top)
            )
            if len(configs) > count:
                model = self.perf_model
                estimates = {c: model(**named, **kwargs, **c.all_kwargs()) for c in configs}
                configs = sorted(configs, key=lambda c: estimates[c])[: max(1, count)]
        return configs

    def measure(
        self, config: Config, args: tuple, named: dict[str, Any], kwargs: dict[str, Any]
    ) -> list[float]:
        conflict = [k for k in config.kwargs if k in kwargs]
        if conflict:
            raise TileError(
                f"`{conflict[0]}` is chosen by autotuning; do not pass it to `{self.__name__}`"
            )
        merged = {**named, **config.all_kwargs()}
        saved = {n: _copy(named[n]) for n in self.restore_value}

        def call() -> None:
            if config.pre_hook is not None:
                config.pre_hook(merged)
            if self.pre_hook is not None:
                self.pre_hook(merged, reset_only=False)
            for name in self.reset_to_zero:
                _fill(named[name], 0)
            for name, value in saved.items():
                _fill(named[name], value)
            self.fn.run(*args, **{**kwargs, **self.usable(config)})
            if self.post_hook is not None:
                self.post_hook(merged, exception=None)

        try:
            result = self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except (OutOfResources, CompilerToolError):
            result = [float("inf")] * 3
        finally:
            for name, value in saved.items():
                _fill(named[name], value)
        return list(result) if isinstance(result, (list, tuple)) else [result] * 3

    def disk_path(self, key: tuple, configs: list[Config]) -> Path | None:
        if not self.cache_results or any(c.pre_hook for c in configs):
            return None
        from ..compiler.compiler import compiler_key
        from .driver import driver

        parts = [
            compiler_key(), self.base_fn.cache_key, str(driver.active.get_current_target()),
            repr(key), *map(str, configs),
        ]  # fmt: skip
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return Path(knobs.cache.dir) / "autotune" / f"{digest}.json"

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:
        return [self.fn.warmup(*args, **{**kwargs, **self.usable(c)}) for c in self.configs]


def _copy(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def _fill(target: Any, value: Any) -> None:
    if hasattr(target, "copy_") and hasattr(value, "shape"):
        target.copy_(value)
    elif hasattr(target, "zero_"):
        target.zero_()
    else:
        target[...] = value


def _read_choice(path: Path, configs: list[Config]) -> Config | None:
    try:
        text = json.loads(path.read_text())["best"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return next((c for c in configs if str(c) == text), None)


def _write_choice(path: Path, best: Config) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w") as file:
            json.dump({"best": str(best)}, file)
        os.replace(temporary, path)
    except OSError:
        pass


class Heuristics(KernelInterface):
    """A kernel some of whose constants follow from its arguments."""

    def __init__(self, fn: Any, arg_names: list[str], values: dict[str, Callable]) -> None:
        self.fn = fn
        self.arg_names = arg_names
        self.values = values
        self.__name__ = getattr(fn, "__name__", "kernel")

    def run(self, *args: Any, **kwargs: Any) -> Any:
        named = {**dict(zip(self.arg_names, args, strict=False)), **kwargs}
        for name, heuristic in self.values.items():
            named[name] = kwargs[name] = heuristic(named)
        return self.fn.run(*args, **kwargs)


def autotune(
    configs: list[Config],
    key: list[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: list[str] | None = None,
    restore_value: list[str] | None = None,
    pre_hook: Callable | None = None,
    post_hook: Callable | None = None,
    warmup: int | None = None,
    rep: int | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable | None = None,
    cache_results: bool = False,
) -> Callable:
    """Chooses among `configs` by measuring, again whenever an argument named
    in `key` has another value."""

    def decorate(fn: Any) -> Autotuner:
        return Autotuner(
            fn, fn.arg_names, configs, key, reset_to_zero, restore_value, pre_hook, post_hook, 
            prune_configs_by,
            warmup, rep, use_cuda_graph, do_bench, cache_results,
        )  # fmt: skip

    return decorate


def heuristics(values: dict[str, Callable]) -> Callable:
    """Computes constants from the arguments: name -> function of all of them."""

    def decorate(fn: Any) -> Heuristics:
        return Heuristics(fn, fn.arg_names, values)

    return decorate
