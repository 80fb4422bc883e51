"""ptxas and libdevice: where they are, and how ptxas is run."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from tile import knobs
from tile.compiler.errors import assembly_place
from tile.errors import CompilerToolError, OutOfResources
from tile.runtime.cache.remember import remembered

from . import ptxas_process


def _in_wheels(*patterns: str) -> Path | None:
    """A file of NVIDIA's wheels, which share the folder `nvidia`."""
    for entry in sys.path:
        root = Path(entry or ".") / "nvidia"
        for pattern in patterns:
            for path in sorted(root.glob(pattern), reverse=True):
                return path
    return None


_FIRST_BLACKWELL = 100


def ptxas_path(arch: int = 0) -> str | None:
    """The ptxas to use: of the environment, of the wheel, or of the system."""
    for named, variable, fits in (
        (knobs.nvidia.ptxas_blackwell, "PTXAS_BLACKWELL_PATH", arch >= _FIRST_BLACKWELL),
        (knobs.nvidia.ptxas, "PTXAS_PATH", True),
    ):
        if not named or not fits:
            continue
        if not os.path.isfile(named):
            raise CompilerToolError(
                f"TILE_{variable} (or TRITON_{variable}) names {named}, which does not exist"
            )
        if _is_torchs(named) and os.environ.get("TILE_PTXAS_PATH") != named:
            return _newer_than_torchs(named)
        return named
    return _find_ptxas()


def _is_torchs(path: str) -> bool:
    folder = Path(path).parent
    return folder.name == "bin" and (folder.parent / "_inductor").is_dir()


@functools.lru_cache(maxsize=4)
def _newer_than_torchs(named: str) -> str:
    """Inductor's compile workers name the ptxas of torch's wheel in TRITON_PTXAS_PATH where nobody
    has set it. That is a default and no choice. A newer one that is found is preferred to it."""
    found = _find_ptxas()
    if found is None or _number(found) < _number(named):
        return named
    return found


def _number(path: str) -> tuple[int, ...]:
    """The release of a ptxas, for comparisons."""
    return tuple(map(int, re.findall(r"\d+", release(path))))


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


def require_ptxas(arch: int = 0) -> str:
    path = ptxas_path(arch)
    if path is None:
        raise CompilerToolError(
            "no ptxas: install it with `pip install nvidia-cuda-nvcc`, put it on the PATH, "
            "or name it in TILE_PTXAS_PATH"
        )
    return path


#: A program this small is a script, which may call another one tomorrow.
_SCRIPT_SIZE = 1 << 16


@functools.lru_cache(maxsize=4)
def _version(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, encoding="utf-8", errors="replace", timeout=30
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CompilerToolError(f"cannot run {path}: {error}") from None
    return done.stdout.strip()


#: The first ptxas that is known to keep the registers that wgmma reads operands from.
_FIRST_FOR_WGMMA = (13, 3)


@functools.lru_cache(maxsize=4)
def _warn_about_wgmma(path: str) -> None:
    """Once for each ptxas."""
    version = release(path)
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None or tuple(map(int, found.groups())) >= _FIRST_FOR_WGMMA:
        return
    wanted = ".".join(map(str, _FIRST_FOR_WGMMA))
    warnings.warn(
        f"{path} is ptxas {version}, which may miscompile matrix products of warp groups (wgmma); "
        f"{wanted} or later does not: `pip install 'nvidia-cuda-nvcc>={wanted}'`, or name one in "
        "TILE_PTXAS_PATH",
        stacklevel=2,
    )


def release(path: str) -> str:
    """The number of a ptxas, as in 13.0.88."""
    text = _identity(path)
    found = re.search(r"V([\d.]+)", text) or re.search(r"release (\d+\.\d+)", text)
    return found.group(1) if found else "unknown"


def ptxas_version(arch: int = 0) -> str:
    """What identifies ptxas in cache keys: what it says itself, wherever it is installed."""
    path = ptxas_path(arch)
    return "none" if path is None else _identity(path)


def _identity(path: str) -> str:
    if os.stat(path).st_size < _SCRIPT_SIZE:
        return _version(path)
    return remembered("ptxas", path, _version)


def libdevice_version() -> str:
    """What identifies libdevice in cache keys: its contents."""
    path = libdevice_path()
    return "none" if path is None else _contents(path)


@functools.lru_cache(maxsize=4)
def _contents(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


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


def _ptxas_command(path: str, processor: str, line_info: bool, extra: str | None) -> list[str]:
    """The command, but for its files."""
    command = [path, "-v", f"--gpu-name={processor}"]
    if line_info:
        command.append("-lineinfo")
    if knobs.nvidia.disable_ptxas_opt:
        command += ["--opt-level", "0"]
    for text in (knobs.nvidia.ptxas_options, extra):
        if text:
            command += text.split()
    return command


def starting_ptxas(facts: Any, line_info: bool, extra: str | None) -> AbstractContextManager:
    """Starts ptxas for the PTX that is made in this block."""
    path = ptxas_path(facts.compute_capability)
    if path is None:
        return nullcontext()
    return ptxas_process.started(_ptxas_command(path, facts.processor, line_info, extra))


def run_ptxas(ptx: str, arch: int, extra: str | None) -> tuple[bytes, dict[str, Any]]:
    """Assembles PTX; returns the cubin and what ptxas says about it."""
    path = require_ptxas(arch)
    if "wgmma.mma_async" in ptx:
        _warn_about_wgmma(path)
    command = _ptxas_command(path, processor(ptx, arch), "\t.loc\t" in ptx, extra)
    try:
        code, log, cubin = ptxas_process.assemble(command, ptx)
    except (OSError, subprocess.SubprocessError) as error:
        raise CompilerToolError(f"cannot run {path}: {error}") from None
    if knobs.nvidia.dump_ptxas_log:
        print(log)
    if code != 0:
        raise _failure(log, code, ptx)
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
        place = assembly_place(ptx, number)
        if place is not None:
            detail += "\n" + place.render()
    return CompilerToolError(f"ptxas refuses the PTX of this kernel: {detail}")


def disassemble(cubin: bytes) -> str:
    """The machine code of a cubin, as text."""
    for name, named, arguments in (  # noqa: B007
        ("nvdisasm", knobs.nvidia.nvdisasm, ["-c", "-gi"]),  # With the lines of the source.
        ("cuobjdump", knobs.nvidia.cuobjdump, ["-sass"]),
    ):
        path = named or shutil.which(name) or _in_cuda(name)
        if path is not None:
            break
    else:
        raise CompilerToolError(
            "machine code is printed by nvdisasm or cuobjdump: put one on the PATH, or name it in "
            "TILE_NVDISASM_PATH or TILE_CUOBJDUMP_PATH"
        )
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        try:
            command = [path, *arguments, file.name]
            done = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace", timeout=60
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise CompilerToolError(f"cannot run {path}: {error}") from None
    if done.returncode != 0:
        raise CompilerToolError(f"{path} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _in_cuda(name: str) -> str | None:
    path = f"/usr/local/cuda/bin/{name}"
    return path if os.path.isfile(path) else None


def describe_ptxas() -> str:
    """Where ptxas is, and its release; or why there is none."""
    try:
        path = require_ptxas()
        return f"{path}, {release(path)}"
    except CompilerToolError as error:
        return f"none: {error}"


def describe_libdevice() -> str:
    try:
        return libdevice_path() or "none"
    except CompilerToolError as error:
        return f"none: {error}"
