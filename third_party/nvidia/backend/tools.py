"""ptxas and libdevice: where they are, and how ptxas is run."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tile import knobs
from tile.errors import CompilerToolError, OutOfResources


def _in_wheels(*patterns: str) -> Path | None:
    """A file of NVIDIA's wheels, which share the folder `nvidia`."""
    for entry in sys.path:
        root = Path(entry or ".") / "nvidia"
        for pattern in patterns:
            for path in sorted(root.glob(pattern), reverse=True):
                return path
    return None


def ptxas_path() -> str | None:
    """The ptxas to use: of the environment, of the wheel, or of the system."""
    named = knobs.nvidia.ptxas
    if named:
        if not os.path.isfile(named):
            raise CompilerToolError(
                f"TILE_PTXAS_PATH (or TRITON_PTXAS_PATH) names {named}, which does not exist"
            )
        return named
    return _find_ptxas()


@functools.lru_cache(maxsize=1)
def _find_ptxas() -> str | None:
    wheel = _in_wheels("cu*/bin/ptxas", "cuda_nvcc/bin/ptxas")
    if wheel is not None:
        return str(wheel)
    found = shutil.which("ptxas")
    if found:
        return found
    for path in ("/usr/local/cuda/bin/ptxas",):
        if os.path.isfile(path):
            return path
    return None


def require_ptxas() -> str:
    path = ptxas_path()
    if path is None:
        raise CompilerToolError(
            "no ptxas: install it with `pip install nvidia-cuda-nvcc` (or "
            "`tile-compiler[cuda]`), put it on the PATH, "
            "or name it in TILE_PTXAS_PATH"
        )
    return path


@functools.lru_cache(maxsize=4)
def _version(path: str) -> str:
    try:
        text = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=30
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise CompilerToolError(f"cannot run {path}: {error}") from None
    found = re.search(r"release (\d+\.\d+).*?V([\d.]+)?", text, re.S)
    return found.group(2) or found.group(1) if found else "unknown"


def ptxas_version() -> str:
    path = ptxas_path()
    if path is None:
        return "none"
    # Part of every cache key: ask the file, not the program.
    stat = os.stat(path)
    return f"{path}:{stat.st_size}:{stat.st_mtime_ns}"


@functools.lru_cache(maxsize=1)
def _find_libdevice() -> str | None:
    wheel = _in_wheels(
        "cu*/nvvm/libdevice/libdevice.10.bc", "cuda_nvcc/nvvm/libdevice/libdevice.10.bc"
    )
    if wheel is not None:
        return str(wheel)
    for path in ("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc",):
        if os.path.isfile(path):
            return path
    return None


def libdevice_path() -> str | None:
    """libdevice.10.bc, or None where there is none."""
    named = knobs.nvidia.libdevice_path
    if named:
        if not os.path.isfile(named):
            raise CompilerToolError(f"TILE_LIBDEVICE_PATH names {named}, which does not exist")
        return named
    return _find_libdevice()


def processor(ptx: str, arch: int) -> str:
    """What ptxas calls the processor: the PTX says so itself."""
    found = re.search(r"^\s*\.target\s+(sm_\w+)", ptx, re.M)
    return found.group(1) if found else f"sm_{arch}"


def run_ptxas(ptx: str, arch: int, extra: str | None) -> tuple[bytes, dict[str, Any]]:
    """Assembles PTX; returns the cubin and what ptxas says about it."""
    path = require_ptxas()
    with tempfile.TemporaryDirectory(prefix="tile-ptxas-") as folder:
        source, binary = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        with open(source, "w") as file:
            file.write(ptx)
        command = [path, "-v", f"--gpu-name={processor(ptx, arch)}", source, "-o", binary]
        if "\t.loc\t" in ptx:
            command.append("-lineinfo")
        if knobs.nvidia.disable_ptxas_opt:
            command += ["--opt-level", "0"]
        for text in (knobs.nvidia.ptxas_options, extra):
            if text:
                command += text.split()
        try:
            result = subprocess.run(command, capture_output=True, text=True, timeout=600)
        except (OSError, subprocess.SubprocessError) as error:
            raise CompilerToolError(f"cannot run {path}: {error}") from None
        log = result.stderr + result.stdout
        if knobs.nvidia.dump_ptxas_log:
            print(log)
        if result.returncode != 0:
            raise _failure(log, result.returncode, ptx)
        with open(binary, "rb") as file:
            cubin = file.read()
    usage: dict[str, Any] = {}
    found = re.search(r"Used (\d+) registers", log)
    if found:
        usage["n_regs"] = int(found.group(1))
    found = re.search(r"(\d+) bytes spill stores", log)
    if found:
        usage["n_spills"] = int(found.group(1)) // 4
    return cubin, usage


def _failure(log: str, code: int, ptx: str) -> Exception:
    kernel = re.search(r"\.entry\s+([\w$]+)", ptx)
    name = kernel.group(1) if kernel else ""
    shared = re.search(r"uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)", log)
    if shared:
        return OutOfResources(
            int(shared.group(1), 16), int(shared.group(2), 16), "shared memory", name
        )
    registers = re.search(r"Insufficient registers \((\d+)\).*?target of (\d+)", log)
    if registers:
        limit, required = map(int, registers.groups())
        return OutOfResources(required, limit, "registers", name)
    lines = [
        line for line in log.splitlines() if "error" in line.lower() or "fatal" in line.lower()
    ]
    detail = "; ".join(lines[:3]) or f"exit status {code}"
    at = re.search(r"line (\d+)", detail)
    if at:
        text = ptx.splitlines()
        number = int(at.group(1))
        if 0 < number <= len(text):
            detail += f" [{text[number - 1].strip()}]"
    return CompilerToolError(f"ptxas refuses the PTX of this kernel: {detail}")
