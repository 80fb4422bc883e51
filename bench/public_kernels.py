"""Registers and spills of public libraries' kernels, beside the peer's, without a GPU.

    python bench/public_kernels.py record kernels.jsonl
    python bench/public_kernels.py compile kernels.jsonl ours.jsonl --target cuda:90
    PYTHON bench/public_kernels.py compile kernels.jsonl peer.jsonl --target cuda:90 --peer
    python bench/public_kernels.py table ours.jsonl peer.jsonl

`record` calls what the libraries export on CPU tensors (the cases of test/clients, and fla's
operations with heads of 64 and 128) and notes for what each launch would be compiled; nothing is
compiled or executed, so that results are noise. `compile` compiles it with tile or, in a Python
that has Triton and the libraries, with the peer, and asks `--ptxas`. Of an autotuner's
configurations the one in the middle of its list is taken.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CLIENTS = ("fla_core", "liger", "gems", "unsloth_kernels", "vllm_kernels", "sglang_kernels")
TEST_CLIENTS = Path(__file__).resolve().parents[1] / "test" / "clients"
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
#: Marked in the table, and counted.
LIMIT = 1.15


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


def describe(ptx: str, ptxas: str) -> dict[str, int]:
    """What ptxas says."""
    target = re.search(r"^\s*\.target\s+(sm_\w+)", ptx, re.M).group(1)
    with tempfile.TemporaryDirectory(prefix="tile-bench-") as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        command = [ptxas, "-v", f"-arch={target}", str(source), "-o", str(source) + ".cubin"]
        log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return {
        "registers": int(re.search(r"Used (\d+) registers", log).group(1)),
        "spills": sum(int(n) for n in re.findall(r"(\d+) bytes spill", log)),
        "wgmma": ptx.count("wgmma.mma_async"),
    }


def compile_recorded(options: argparse.Namespace) -> None:
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    os.environ["TILE_PTXAS_PATH"] = os.environ["TRITON_PTXAS_PATH"] = options.ptxas
    sys.path.insert(0, str(TEST_CLIENTS))
    if not options.peer:
        os.environ["TILE_COMPAT"] = "1"
        os.environ["TILE_DRIVER"] = "sim"
        import tile.compat  # noqa: F401
    import pretend

    pretend.a_gpu_is_there()
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kind, arch = options.target.split(":")
    target = GPUTarget(kind, int(arch), 32)
    dtype = lambda text: triton.language.str_to_ty(text, None)  # noqa: E731
    entries = [json.loads(line) for line in options.records.read_text().splitlines()]
    chosen = {(e["module"], e["name"], i if options.all else 0): i for i, e in enumerate(entries)}
    with options.out.open("w") as out:
        for number in sorted(chosen.values()):
            entry = entries[number]
            result: dict[str, Any] = {"kernel": f"{entry['module']}.{entry['name']}"}
            result["number"] = number
            try:
                fn = find(entry["module"], entry["name"], triton.JITFunction)
                places = {name: i for i, name in enumerate(fn.arg_names)}
                attrs = {decode(k, dtype): decode(v, dtype) for k, v in entry["attrs"]}
                if options.peer:  # It knows multiples of 16 only.
                    divisible = [["tt.divisibility", 16]]
                    attrs = {k: divisible for k, v in attrs.items() if divisible[0] in v}
                constants = {decode(k, dtype): decode(v, dtype) for k, v in entry["constants"]}
                constants = {
                    k if isinstance(k, tuple) else (places[k],): v for k, v in constants.items()
                }
                compiled = triton.compile(
                    ASTSource(fn, entry["signature"], constants, attrs),
                    target=target,
                    options={k: decode(v, dtype) for k, v in entry["options"].items()},
                )
                result |= describe(compiled.asm["ptx"], options.ptxas)
                result["shared"] = compiled.metadata.shared
                result["warps"] = compiled.metadata.num_warps
                if options.save:
                    options.save.mkdir(parents=True, exist_ok=True)
                    Path(options.save, f"{number}.ptx").write_text(compiled.asm["ptx"])
            except Exception as error:
                result["error"] = f"{type(error).__name__}: {error}"[-300:]
            out.write(json.dumps(result) + "\n")
            out.flush()


def table(options: argparse.Namespace) -> None:
    sides = []
    for paths in (options.ours, options.peers):
        lines = [json.loads(x) for p in paths.split(",") for x in Path(p).read_text().splitlines()]
        sides.append({entry["number"]: entry for entry in lines})
    both = [(o, sides[1][n]) for n, o in sorted(sides[0].items()) if n in sides[1]]
    for entry, peer in both:
        if "error" in entry and "error" not in peer:
            print(f"only the peer compiles {entry['kernel']}: {entry['error']}", file=sys.stderr)
    both = [(o, p) for o, p in both if "error" not in o and "error" not in p]
    ratios = [o["registers"] / p["registers"] for o, p in both]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    bytes_of = [sum(side[i]["spills"] for side in both) for i in (0, 1)]
    spilling = [o for o, p in both if o["spills"] and not p["spills"]]
    functions = len({o["kernel"] for o, _ in both})
    print(f"{len(both)} kernels of {functions} functions: registers {mean:.3f} of the peer's,")
    print(f"{sum(r > LIMIT for r in ratios)} above {LIMIT}; {bytes_of[0]} bytes spilled and")
    print(f"{bytes_of[1]}, {len(spilling)} kernels spill where the peer's do not.\n")
    print("| kernel | warps | registers | spill bytes | shared bytes | wgmma |")
    print("|---|---|---|---|---|---|")
    key = lambda pair: -pair[0]["registers"] / pair[1]["registers"]  # noqa: E731
    for o, p in sorted(both, key=key):
        if o["registers"] <= LIMIT * p["registers"] and not o["spills"] > p["spills"] == 0:
            continue
        cells = [f"{o[m]} / {p[m]}" for m in ("registers", "spills", "shared", "wgmma")]
        print(f"| {o['kernel']} ({o['number']}) | {o['warps']} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("records", type=Path)
    compiler = commands.add_parser("compile")
    compiler.add_argument("records", type=Path)
    compiler.add_argument("out", type=Path)
    compiler.add_argument("--target", default="cuda:90")
    compiler.add_argument("--peer", action="store_true", help="what `import triton` is here")
    compiler.add_argument("--ptxas", default="ptxas")
    compiler.add_argument("--all", action="store_true", help="not only a function's last launch")
    compiler.add_argument("--save", type=Path, help="a folder for the PTX")
    shower = commands.add_parser("table")
    shower.add_argument("ours", help="files, with commas between them")
    shower.add_argument("peers")
    options = parser.parse_args()
    if options.command == "record":
        record(options.records)
        os._exit(0)  # Libraries leave threads behind.
    elif options.command == "compile":
        compile_recorded(options)
    else:
        table(options)


if __name__ == "__main__":
    main()
