"""Runs public clients of Triton on tile, and counts what passes.

    python test/clients/run.py --device cpu --clients inductor --match softmax
    python test/clients/run.py --device cuda --out results.json
    python test/clients/run.py --device cuda --peer --out peer.json

A client is a module beside this one with `PACKAGE` and `cases(device)`; what it
needs is installed by whoever runs it, and skipped with a word where it is not.
With `--peer` the same cases run on the triton that is installed. With `--jobs`
several processes share a client's cases, and one that a case ends is replaced.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Modules of this folder with `PACKAGE` and `cases`.
CLIENTS = (
    "inductor", "models", "liger", "fla_core", "fla_gluon", "gems", "unsloth_kernels",
    "vllm_kernels", "sglang_kernels", "matmul_ogs", "helion_kernels", "torchao_kernels",
    "xformers_kernels", "attorch_layers", "apex_kernels", "nvshmem_kernels",
    "tritonparse_traces", "other_arrays",
    "times",
)  # fmt: skip
#: The exit status of a process that cannot go on; run again with `--resume`, the next one does.
LOST = 3
#: How often one that was lost is replaced.
REPLACEMENTS = 6
#: Of one that was told to end; as timeout's.
OUT_OF_TIME = 124
#: Seconds beyond its limit that a case gets to stop by itself.
GRACE = 20
#: What the device says after a kernel that broke it: nothing later in the process can work.
_BROKEN = ("CUDA error", "CUDA driver error", "device-side assert")


class _Late(Exception):
    """A case took too long."""


def _late(*_: Any) -> None:
    raise _Late


def _give_up() -> None:
    """Ends the process: a case hangs where no signal reaches it."""
    faulthandler.dump_traceback(all_threads=True)
    os._exit(LOST)


def run_case(case: Any) -> dict[str, Any]:
    """The outcome of one case."""
    start = time.perf_counter()
    watch = threading.Timer(case.limit + GRACE, _give_up)
    watch.daemon = True
    watch.start()
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(case.limit)
    error = None
    try:
        case.run()
    except _Late:
        error = f"took more than {case.limit} s"
    except Exception as failure:
        text = str(failure).strip().splitlines()
        error = f"{type(failure).__name__}: {text[0] if text else ''}"[:300]
        if os.environ.get("CLIENTS_TRACEBACK"):
            traceback.print_exc()
    finally:
        signal.alarm(0)
        watch.cancel()
    return {"name": case.name, "error": error, "seconds": round(time.perf_counter() - start, 2)}


def is_wanted(case: str, args: argparse.Namespace) -> bool:
    """Whether `--match` names a case."""
    parts = args.match.split(",")
    return case in parts if args.exact else any(part in case for part in parts)


def is_free(case: str, args: argparse.Namespace) -> bool:
    """Whether no other process has taken a case; this one has it then."""
    if args.claims is None:
        return True
    try:
        (args.claims / case.replace("/", "_")).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def version_of(package: str) -> str:
    """What is installed; some clients are checkouts of their repositories."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "of its repository"


def run_client(
    name: str,
    args: argparse.Namespace,
    known: dict[str, dict[str, Any]],
    note: Callable[[dict], None],
) -> dict[str, Any]:
    """The outcomes of a client's cases, noted as they come; a reason where it cannot
    run at all. What is known from an earlier process is not run again."""
    try:
        client = importlib.import_module(name)
        configure = getattr(client, "configure", None)
        if configure is not None:
            configure(args.device)
        found = client.cases(args.device)
        version = version_of(client.PACKAGE)
    except ModuleNotFoundError as error:
        missing = (error.name or "").split(".")[0]
        if missing in ("triton", "tile"):
            return {"client": name, "error": str(error), "cases": []}
        return {"client": name, "skipped": f"{missing} is not installed", "cases": []}
    except Exception as error:
        if os.environ.get("CLIENTS_TRACEBACK"):
            traceback.print_exc()
        return {"client": name, "error": f"{type(error).__name__}: {error}"[:300], "cases": []}
    result = {"client": name, "version": version, "cases": []}
    for case in found:
        if args.device not in case.devices or not is_wanted(case.name, args):
            continue
        if case.name in known:
            result["cases"].append(known[case.name])
            continue
        if not is_free(case.name, args):
            continue
        outcome = {"name": case.name, "error": "ended the process", "seconds": 0}
        result["cases"].append(outcome)
        if time.time() > args.deadline:
            outcome["error"] = "not reached"
        else:
            note(result)

            def out_of_time(*_: Any, outcome: dict[str, Any] = outcome) -> None:
                outcome["error"] = "not reached"
                note(result)
                os._exit(OUT_OF_TIME)

            signal.signal(signal.SIGTERM, out_of_time)
            outcome.update(run_case(case))
        mark = "ok" if outcome["error"] is None else f"FAILED {outcome['error']}"
        print(f"{name}: {case.name} ({outcome['seconds']} s) {mark}", flush=True)
        note(result)
        if any(text in (outcome["error"] or "") for text in _BROKEN):
            os._exit(LOST)
    return result


def read_known(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The outcomes of each client's cases that a file has."""
    if not path.exists():
        return {}
    clients = json.loads(path.read_text())["clients"]
    return {
        client["client"]: {c["name"]: c for c in client["cases"] if c["error"] != "not reached"}
        for client in clients
    }


def share(
    name: str,
    args: argparse.Namespace,
    known: dict[str, dict[str, Any]],
    note: Callable[[dict], None],
) -> dict[str, Any]:
    """The outcomes of a client's cases that several processes share."""
    with tempfile.TemporaryDirectory() as folder:
        args.claims = Path(folder, "claims")
        args.claims.mkdir()
        for case in known:
            is_free(case, args)
        outs = [Path(folder, f"{i}.json") for i in range(args.jobs)]
        command = [sys.executable, str(HERE / "run.py"), "--device", args.device, "--clients", name]
        command += ["--match", args.match, "--deadline", str(args.deadline), "--resume"]
        command += (
            ["--claims", str(args.claims)] + ["--exact"] * args.exact + ["--peer"] * args.peer
        )

        def start(out: Path) -> subprocess.Popen:
            environment = dict(os.environ)
            if args.peer:  # Two of its processes trip over one another's files in one cache.
                environment["TRITON_CACHE_DIR"] = str(out.with_suffix(".cache"))
            return subprocess.Popen([*command, "--out", str(out)], env=environment)

        def collected() -> dict[str, Any]:
            result: dict[str, Any] = {"client": name, "cases": list(known.values())}
            for out in outs:
                if out.exists():
                    for part in json.loads(out.read_text())["clients"]:
                        cases = result["cases"] + part["cases"]
                        result = {**result, **part, "cases": cases}
            return result

        running = {out: start(out) for out in outs}

        def out_of_time(*_: Any) -> None:
            for process in running.values():
                process.terminate()

        signal.signal(signal.SIGTERM, out_of_time)
        replacements = REPLACEMENTS
        while running:
            time.sleep(0.5)
            note(collected())
            for out, process in list(running.items()):
                code = process.poll()
                if code is None:
                    continue
                del running[out]
                if code not in (0, 1, OUT_OF_TIME, -signal.SIGTERM) and replacements:
                    replacements -= 1
                    running[out] = start(out)
        return collected()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--clients", default=",".join(CLIENTS), help="some of %(default)s")
    parser.add_argument("--match", default="", help="parts of the cases' names")
    parser.add_argument("--exact", action="store_true", help="whole names, not parts")
    parser.add_argument("--peer", action="store_true", help="on the triton that is installed")
    parser.add_argument(
        "--deadline", type=float, default=float("inf"), help="no case starts later (time.time())"
    )
    parser.add_argument("--out", type=Path, help="where the outcomes go, as JSON")
    parser.add_argument(
        "--resume", action="store_true", help="run only what --out does not know the outcome of"
    )
    parser.add_argument("--jobs", type=int, default=0, help="processes that share the cases")
    parser.add_argument("--claims", type=Path, help="where these say who has which case")
    args = parser.parse_args()
    sys.path.insert(0, str(HERE))
    if not args.peer:
        os.environ["TILE_COMPAT"] = "1"
        os.environ.setdefault("TILE_DRIVER", "sim" if args.device == "cpu" else "cuda")
        import tile.compat

        if args.claims is None:
            print(tile.compat.doctor(), flush=True)
    results: list[dict[str, Any]] = []
    known = read_known(args.out) if args.resume else {}
    run = share if args.jobs else run_client

    def write(last: list[dict[str, Any]]) -> None:
        # After each case: a run that is ended early has what it did.
        if args.out:
            record = {"device": args.device, "clients": [*results, *last]}
            new = args.out.with_suffix(".new")
            new.write_text(json.dumps(record, indent=1))
            new.replace(args.out)

    for name in args.clients.split(","):
        results.append(run(name, args, known.get(name, {}), lambda r: write([r])))
        write([])
    for result in results:
        cases = result["cases"]
        passed = sum(c["error"] is None for c in cases)
        note = result.get("skipped") or result.get("error") or f"{passed} of {len(cases)} passed"
        print(f"{result['client']} {result.get('version', '')}: {note}")
    failed = any(r.get("error") or any(c["error"] for c in r["cases"]) for r in results)
    return 1 if failed else 0


if __name__ == "__main__":
    # No Python that is shut down while the client's threads are at work.
    code = main()
    sys.stdout.flush()
    os._exit(code)
