"""Registers and spills of public libraries' kernels, beside Triton's, without a GPU.

Compiles what was recorded (`launches.py`) with tile, or with Triton in a Python that has it and
the libraries. Then it asks ptxas. What is in the output by then is not compiled again.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .launches import TEST_CLIENTS, decode, find

#: Marked in the table, and counted.
LIMIT = 1.15


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


def name_of(entry: dict[str, Any]) -> str:
    return f"{entry['module']}.{entry['name']} ({entry['number']})"


@dataclasses.dataclass
class Compilation:
    """A process that compiles a record, and until when it is waited for."""

    entry: dict[str, Any]
    child: multiprocessing.Process
    receiver: multiprocessing.connection.Connection
    until: float

    def ended(self) -> bool:
        return self.receiver.poll() or time.monotonic() > self.until

    def finish(self, patience: float) -> dict[str, Any]:
        """Its line in the output."""
        kernel = f"{self.entry['module']}.{self.entry['name']}"
        return {"kernel": kernel, "number": self.entry["number"]} | self.received(patience)

    def received(self, patience: float) -> dict[str, Any]:
        try:
            if not self.receiver.poll():
                return {"error": f"takes more than {patience} s"}
            return self.receiver.recv()
        except EOFError:
            self.child.join()
            return {"error": f"ended its process: {self.child.exitcode}"}
        finally:
            self.child.kill()
            self.child.join()
            self.receiver.close()


class Compiler:
    """Compiles records, each in a process of its own: what ends or holds up one is that one's
    error."""

    def __init__(self, options: argparse.Namespace) -> None:
        os.environ["TRITON_ALWAYS_COMPILE"] = "1"
        os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="tile-bench-cache-")
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

        self.options = options
        self.triton = triton
        kind, arch = options.target.split(":")
        self.target = GPUTarget(kind, int(arch), 32)
        if options.peer:  # ptxas is asked once, by `describe`.
            triton.knobs.runtime.add_stages_inspection_hook = without_binary

    def start(self, entry: dict[str, Any]) -> Compilation:
        """Starts the process that sends its result."""
        receiver, sender = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(
            target=lambda: sender.send(self.found(entry))
        )
        self.load(entry["module"])
        child.start()
        sender.close()
        return Compilation(entry, child, receiver, time.monotonic() + self.options.patience)

    def load(self, module: str) -> None:
        """Imports it here, once for all that it defines; the process says what is wrong with it."""
        with contextlib.suppress(Exception):
            importlib.import_module(module)

    def found(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Its result, or what went wrong."""
        try:
            fn = find(entry["module"], entry["name"], self.triton.JITFunction)
            return self.result(fn, entry)
        except Exception as error:
            return {"error": text_of(error)}

    def result(self, fn: Any, entry: dict[str, Any]) -> dict[str, Any]:
        dtype = lambda text: self.triton.language.str_to_ty(text, None)  # noqa: E731
        places = {name: i for i, name in enumerate(fn.arg_names)}
        attrs = {decode(k, dtype): decode(v, dtype) for k, v in entry["attrs"]}
        if self.options.peer:  # It knows multiples of 16 only.
            sixteen = ["tt.divisibility", 16]
            attrs = {k: [sixteen] for k, v in attrs.items() if sixteen in map(list, v)}
        constants = {decode(k, dtype): decode(v, dtype) for k, v in entry["constants"]}
        constants = {k if isinstance(k, tuple) else (places[k],): v for k, v in constants.items()}
        started = time.monotonic()
        compiled = self.triton.compile(
            self.triton.compiler.ASTSource(fn, entry["signature"], constants, attrs),
            target=self.target,
            options={k: decode(v, dtype) for k, v in entry["options"].items()},
        )
        ptx = compiled.asm["ptx"]
        seconds = time.monotonic() - started
        limit = getattr(compiled.metadata, "register_limit", None)
        if limit is not None:  # tile told ptxas of it behind this stage.
            ptx = re.sub(r"^\.reqntid", f".maxnreg {limit}\n.reqntid", ptx, count=1, flags=re.M)
        if self.options.save:
            self.options.save.mkdir(parents=True, exist_ok=True)
            Path(self.options.save, f"{entry['number']}.ptx").write_text(ptx)
        return describe(ptx, self.options.ptxas) | {
            "shared": compiled.metadata.shared,
            "warps": compiled.metadata.num_warps,
            "seconds": round(seconds, 2),
        }


def without_binary(backend: Any = None, stages: Any = None, *args: Any) -> Any:
    """Triton's hook for stages: leaves PTX as it is."""
    if stages is None:  # What tells its cache of the hook.
        return "ptx", "ptx"
    stages["cubin"] = lambda source, metadata: b""
    return None


def text_of(error: BaseException) -> str:
    """What an error says, and what caused it."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, subprocess.CalledProcessError):
        said += f" {error.stderr}"
    return said[-600:] + (f" {error.__cause__}"[:300] if error.__cause__ else "")


def in_order(entries: list[dict[str, Any]], everything: bool) -> list[dict[str, Any]]:
    """A launch of each function, its last, and then the others."""
    last = {(e["module"], e["name"]): e for e in entries}
    first = list(last.values())
    return first + [e for e in entries if everything and e not in first]


def compile_recorded(options: argparse.Namespace) -> None:
    """Compiles what has no result yet, `--jobs` at a time."""
    lines = options.records.read_text().splitlines()
    entries = [json.loads(line) | {"number": n} for n, line in enumerate(lines)]
    options.out.touch()
    done = {json.loads(line)["number"] for line in options.out.read_text().splitlines()}
    waiting = [
        entry
        for entry in in_order(entries, everything=not options.functions)
        if re.search(options.match, name_of(entry))
        and (options.again or entry["number"] not in done)
    ]
    waiting.reverse()
    compiler = Compiler(options)
    until = time.monotonic() + options.seconds
    running: list[Compilation] = []
    while running or waiting:
        while waiting and len(running) < options.jobs and time.monotonic() < until:
            running.append(compiler.start(waiting.pop()))
        if not running:
            sys.exit(f"not compiled: {name_of(waiting[-1])} and {len(waiting) - 1} more")
        patience = max(0, min(c.until for c in running) - time.monotonic())
        multiprocessing.connection.wait([c.receiver for c in running], patience)
        for compilation in [c for c in running if c.ended()]:
            running.remove(compilation)
            with options.out.open("a") as out:
                out.write(json.dumps(compilation.finish(options.patience)) + "\n")


def blocks(side: dict[str, Any], shared: int) -> int:
    """How many blocks one multiprocessor holds: by registers, threads and shared memory."""
    granules = -(-side["registers"] * 32 // 256)
    by_registers = 65536 // (granules * 256) // side["warps"]
    by_shared = shared // (side["shared"] + 1024)
    return min(by_registers, 64 // side["warps"], by_shared, 32)


def results(paths: str) -> dict[int, dict[str, Any]]:
    """The last result of each record."""
    lines = [json.loads(x) for p in paths.split(",") for x in Path(p).read_text().splitlines()]
    return {entry["number"]: entry for entry in lines}


def print_table(options: argparse.Namespace) -> None:
    ours, peers = results(options.ours), results(options.peers)
    both = [(o, peers[n]) for n, o in sorted(ours.items()) if n in peers]
    for entry, peer in both:
        if "error" in entry and "error" not in peer:
            print(f"only Triton compiles {entry['kernel']}: {entry['error']}", file=sys.stderr)
    refused = [sum("error" in side[i] for side in both) for i in (0, 1)]
    both = [(o, p) for o, p in both if "error" not in o and "error" not in p]
    ratios = [o["registers"] / p["registers"] for o, p in both]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    bytes_of = [sum(side[i]["spills"] for side in both) for i in (0, 1)]
    spilling = [o for o, p in both if o["spills"] and not p["spills"]]
    functions = len({o["kernel"] for o, _ in both})
    held = lambda pair: [blocks(side, options.shared) for side in pair]  # noqa: E731
    above = [(o, p) for (o, p), r in zip(both, ratios, strict=True) if r > LIMIT]
    given_up = sum(p["spills"] > o["spills"] for o, p in above)
    fewer = [o for o, p in both if held((o, p))[0] < held((o, p))[1]]
    more = [o for o, p in both if held((o, p))[0] > held((o, p))[1]]
    print(f"{len(both)} kernels of {functions} functions ({refused[0]} more that tile does not")
    print(f"compile, {refused[1]} that Triton does not): registers {mean:.3f} of Triton's,")
    print(f"{len(above)} above {LIMIT}, Triton's spilling more in {given_up} of them;")
    print(f"{bytes_of[0]} bytes spilled and {bytes_of[1]}, {len(spilling)} kernels spill where the")
    print("peer's do not. A multiprocessor")
    print(f"holds fewer blocks of {len(fewer)}, more of {len(more)}.\n")
    print("| kernel | warps | registers | spill bytes | shared bytes | wgmma | blocks |")
    print("|---|---|---|---|---|---|---|")
    key = lambda pair: -pair[0]["registers"] / pair[1]["registers"]  # noqa: E731
    for o, p in sorted(both, key=key):
        if o["registers"] <= LIMIT * p["registers"] and not o["spills"] > p["spills"] == 0:
            continue
        cells = [f"{o[m]} / {p[m]}" for m in ("registers", "spills", "shared", "wgmma")]
        cells.append("{} / {}".format(*held((o, p))))
        print(f"| {o['kernel']} ({o['number']}) | {o['warps']} | {' | '.join(cells)} |")


def add_compile_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("records", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--target", default="cuda:90")
    parser.add_argument("--peer", action="store_true", help="what `import triton` is here")
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--functions", action="store_true", help="a launch of each, the last")
    parser.add_argument(
        "--match", default="", help="only these: `module.function (number)` contains it"
    )
    parser.add_argument("--again", action="store_true", help="also what OUT has")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time")
    parser.add_argument("--seconds", type=float, default=math.inf, help="none starts later")
    parser.add_argument("--patience", type=float, default=300, help="seconds for one")
    parser.add_argument("--save", type=Path, help="a folder for the PTX")


def add_table_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ours", help="files, with commas between them")
    parser.add_argument("peers")
    parser.add_argument("--shared", type=int, default=228 << 10, help="bytes of a multiprocessor")
