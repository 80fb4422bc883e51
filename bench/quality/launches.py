"""For what public libraries' launches would be compiled: a line of JSON each.

What the libraries export is called on CPU tensors (the cases of test/clients, and fla's operations
with heads of 64 and 128). Nothing is compiled or executed, so that results are noise. Of an
autotuner's configurations the one in the middle of its list is taken.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

CLIENTS = ("fla_core", "liger", "gems", "unsloth_kernels", "vllm_kernels", "sglang_kernels")
TEST_CLIENTS = Path(__file__).resolve().parents[2] / "test" / "clients"
#: fla's operations: batch, tokens, heads; and parameters that are not heads of some width.
SHAPE = (1, 256, 4)
WIDTHS = (64, 128)
SCALARS = {
    "beta",
    "g_scalar",
    "log_alpha",
    "log_mu",
    "eta",
    "delta",
    "g_atk",
    "beta_atk",
    "g_gamma",
}
#: Those that some operations take as fp32 only.
PRECISE = {"parallel_path_attn": ("w", "beta", "g")}


class Unlaunched:
    """What a launch gives back that compiled nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> Any:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        return None


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("records", type=Path)


def run(arguments: argparse.Namespace) -> None:
    record(arguments.records)
    sys.stdout.flush()
    os._exit(0)  # Libraries leave threads behind.


def record(path: Path) -> None:
    """Notes what launches would be compiled for."""
    os.environ["TILE_COMPAT"] = "1"
    os.environ["TILE_DRIVER"] = "sim"
    sys.path.insert(0, str(TEST_CLIENTS))
    import cases
    import pretend

    import tile.compat  # noqa: F401
    from tile.runtime import driver
    from tile.runtime.launcher import Launcher

    pretend.a_gpu_is_there()
    from tile.runtime.autotuner import Autotuner

    def middle(self: Any, key: Any, args: Any, kwargs: dict) -> Any:
        configs = list(self.prune_configs(kwargs))
        return configs[len(configs) // 2]

    Autotuner._tune = middle
    cases.check = lambda *args, **kwargs: None
    known: set[str] = set()
    path.write_text("")

    def note(self: Any, grid: Any, values: tuple, options: dict) -> Any:
        kernel = Unlaunched()
        try:
            words = self.in_words(driver.active, values, options)
        except Exception as error:
            print(f"{self.fn.__name__}: {str(error).splitlines()[0]}", file=sys.stderr)
            return kernel
        if words is None:
            print(f"{self.fn.__name__}: found by no name", file=sys.stderr)
            return kernel
        module, name, data, *_ = words
        fields = json.loads(data)
        line = {"module": module, "name": name}
        line |= {k: fields[k] for k in ("signature", "constants", "attrs", "options")}
        text = json.dumps(line)
        if text not in known:
            known.add(text)
            with path.open("a") as file:
                file.write(text + "\n")
        return kernel

    Launcher.run = note
    for name in CLIENTS:
        try:
            client = importlib.import_module(name)
            configure = getattr(client, "configure", lambda device: None)
            configure("cpu")
            found = client.cases("cpu")
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        for case in found:
            try:
                case.run()
            except Exception as error:  # Whoever looks at results finds noise.
                print(f"{name} {case.name}: {str(error)[:100]!r}", file=sys.stderr)
    call_linear_attentions()
    print(f"{len(known)} kernels")


def call_linear_attentions() -> None:
    """Calls fla's operations, and their gradients."""
    try:
        import fla.ops as ops
    except ImportError as error:
        print(f"fla: {error}", file=sys.stderr)
        return
    import torch

    for name in dir(ops):
        function = getattr(ops, name)
        if not callable(function):
            continue
        for width in WIDTHS:
            # Decays have a number for each head, or each of its elements.
            for decay in ((), (width,)):
                values: dict[str, Any] = {}
                for p in inspect.signature(function).parameters.values():
                    if p.default is not p.empty and p.name not in ("g", "beta"):
                        continue
                    if p.kind is p.VAR_KEYWORD:
                        continue
                    if p.name in ("layer_idx", "num_layers"):
                        values[p.name] = {"layer_idx": 1, "num_layers": 4}[p.name]
                        continue
                    last = decay if p.name == "g" else () if p.name in SCALARS else (width,)
                    if p.name == "s":
                        last = (64,)
                    shape = (SHAPE[2], width) if p.name == "u" else (*SHAPE, *last)
                    value = torch.rand(shape) * 0.1
                    if p.name not in PRECISE.get(name, ()):
                        value = value.bfloat16()
                    values[p.name] = value.requires_grad_()
                try:
                    result = function(**values)
                    first = result[0] if isinstance(result, tuple) else result
                    first.float().sum().backward()
                except Exception as error:
                    print(f"fla {name} {width}: {str(error)[:100]!r}", file=sys.stderr)


def decode(value: Any, dtype: Any) -> Any:
    """A constant of a record (`tile/runtime/preload.py`)."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "dtype":
        return dtype(content)
    items = [decode(item, dtype) for item in content]
    return tuple(items) if kind == "tuple" else items


def find(module: str, name: str, kind: type) -> Any:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    while not isinstance(found, kind):
        found = found.fn
    return found
