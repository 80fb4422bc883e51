"""One variant of a kernel as a C file and its header."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..backends import GPUTarget
from ..errors import TileError
from .signature import Argument, parse_signature

#: How the line with what `link` reads begins.
MARK = "// tile: "


def load_kernel(path: str | Path, name: str) -> Any:
    """The kernel of this name in a Python file."""
    path = Path(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise TileError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    kernel = getattr(module, name, None)
    while kernel is not None and not getattr(kernel, "__tile_jit__", False):
        kernel = getattr(kernel, "fn", None)  # Below autotune and heuristics.
    if kernel is None:
        raise TileError(f"{path} has no kernel `{name}`")
    return kernel


def parse_target(text: str) -> GPUTarget:
    """``cuda:90``, or ``cuda:90:32`` with the width of a warp."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(p.isdigit() for p in parts[2:]):
        raise TileError(f"a target is written as cuda:90, not {text!r}")
    arch = int(parts[1]) if parts[1].isdigit() else parts[1]
    return GPUTarget(parts[0], arch, int(parts[2]) if len(parts) == 3 else 32)


def compile_kernel(
    path: str | Path,
    kernel_name: str,
    signature: str,
    grid: str,
    out_path: str | Path,
    *,
    targets: Sequence[str] = (),
    out_name: str | None = None,
    num_warps: int = 4,
    num_stages: int = 3,
    num_ctas: int = 1,
    ptx: bool = True,
) -> list[Path]:
    """Compiles a variant for every target; writes ``<out_path>.<hash>_<suffix>.{h,c}``.

    `grid` has up to three expressions in C over the kernel's parameters. With `ptx` the driver
    compiles the PTX on devices that no target fits.
    """
    from ..compiler import ASTSource
    from ..compiler import compile as compile_source

    kernel = load_kernel(path, kernel_name)
    arguments = parse_signature(signature, kernel.arg_names)
    source = ASTSource(
        kernel,
        {a.name: "constexpr" if a.hint == 1 else a.type for a in arguments},
        {a.name: 1 if a.hint == 1 else a.value for a in arguments if a.is_constant or a.hint == 1},
        {(i,): [("tt.divisibility", 16)] for i, a in enumerate(arguments) if a.hint == 16},
    )
    options = {"num_warps": num_warps, "num_stages": num_stages, "num_ctas": num_ctas}
    chosen = [parse_target(text) for text in targets] or [_current_target()]
    compiled = [compile_source(source, target=target, options=options) for target in chosen]
    scratch = [k for k in compiled if k._metadata.get("global_scratch_size")]
    if scratch:
        raise TileError(f"`{kernel_name}` needs scratch memory, which a C function cannot give it")
    variant = Variant(out_name or kernel_name, kernel, arguments, grid, options, chosen, compiled)
    return variant.write(Path(out_path), ptx)


def _current_target() -> GPUTarget:
    from ..runtime.driver import driver

    return driver.active.get_current_target()


class Variant:
    """A kernel, compiled for one signature and some targets."""

    def __init__(
        self, name: str, kernel: Any, arguments: list[Argument], grid: str,
        options: dict[str, int], targets: list[GPUTarget], compiled: list[Any],
    ) -> None:  # fmt: skip
        self.name, self.arguments, self.options = name, arguments, options
        self.targets, self.compiled = targets, compiled
        self.grid = [part.strip() for part in grid.split(",") if part.strip()]
        if not 1 <= len(self.grid) <= 3:
            raise TileError(f"the grid has 1 to 3 expressions, not {len(self.grid)}: {grid!r}")
        self.grid += ["1"] * (3 - len(self.grid))
        text = repr([kernel.cache_key, arguments, self.grid, options, list(map(str, targets))])
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        suffix = "".join(f"{i}{a.suffix}" for i, a in enumerate(arguments) if not a.is_constant)
        self.id = f"{digest}_{suffix}" if suffix else digest

    @property
    def function(self) -> str:
        return f"{self.name}_{self.id}"

    def parameters(self) -> list[tuple[str, str]]:
        return [p for argument in self.arguments for p in argument.c_parameters()]

    def declaration(self) -> str:
        parameters = "".join(f", {ty} {name}" for ty, name in self.parameters())
        return f"CUresult {self.function}(CUstream stream{parameters})"

    def record(self) -> dict[str, Any]:
        """What `link` has to know."""
        constants = {a.name: repr(a.value) for a in self.arguments if a.is_constant}
        return {
            "kernel": self.name,
            "function": self.function,
            "parameters": self.parameters(),
            "conditions": [c for a in self.arguments if (c := a.condition()) is not None],
            "algorithm": {**constants, **self.options},
        }

    def write(self, out: Path, ptx: bool) -> list[Path]:
        out.parent.mkdir(parents=True, exist_ok=True)
        header = out.with_name(f"{out.name}.{self.id}.h")
        source = out.with_name(f"{out.name}.{self.id}.c")
        header.write_text(self.header())
        source.write_text(self.source(header.name, ptx))
        return [header, source]

    def header(self) -> str:
        guard = f"TILE_{self.function.upper()}_H"
        return f"""\
// Made by tile {__version__}.
{MARK}{json.dumps(self.record(), sort_keys=True)}
#ifndef {guard}
#define {guard}
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {{
#endif

// Loads the kernel into the current context; the first launch does it too.
CUresult load_{self.function}(void);
void unload_{self.function}(void);
{self.declaration()};

#ifdef __cplusplus
}}
#endif
#endif
"""

    def images(self, ptx: bool) -> list[tuple[int, str, bytes]]:
        """The compute capability, kind and contents of what is embedded; machine code first."""
        images = []
        for target, kernel in zip(self.targets, self.compiled, strict=True):
            if "cubin" in kernel.asm:
                images.append((int(target.arch), "cubin", kernel.asm["cubin"]))
        if ptx or not images:
            for target, kernel in zip(self.targets, self.compiled, strict=True):
                images.append((int(target.arch), "ptx", kernel.asm["ptx"].encode() + b"\0"))
        return images

    def source(self, header: str, ptx: bool) -> str:
        images = self.images(ptx)
        arrays = "".join(
            f"static const unsigned char image{i}[] = {{ // {kind} for sm_{arch}\n"
            f"{_bytes(data)}}};\n"
            for i, (arch, kind, data) in enumerate(images)
        )
        table = "".join(
            f"    {{{arch}, {int(kind == 'ptx')}, image{i}}},\n"
            for i, (arch, kind, _) in enumerate(images)
        )
        metadata = self.compiled[0]._metadata
        ctas = metadata.get("num_ctas", 1)
        names = [f"&{n}" for a in self.arguments for n in a.c_arguments()]
        x, y, z = self.grid
        cluster = ""
        if ctas > 1:
            cluster = f"""
  CUlaunchAttribute cluster = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value.clusterDim = {{{ctas}, 1, 1}}}};
  config.attrs = &cluster;
  config.numAttrs = 1;"""
        shared = max(k._metadata.get("shared", 0) for k in self.compiled)
        return f"""\
// Made by tile {__version__}.
#include "{header}"
#include <string.h>

{arrays}
static const struct {{
  int capability;
  int is_ptx;
  const unsigned char *image;
}} images[] = {{
{table}}};
static CUmodule module;
static CUfunction function;

void unload_{self.function}(void) {{
  if (module)
    cuModuleUnload(module);
  module = NULL;
  function = NULL;
}}

// Machine code runs on the devices of its major version from its minor one on,
// PTX on all later ones.
static int fits(int i, int capability) {{
  if (images[i].is_ptx)
    return images[i].capability <= capability;
  return images[i].capability / 10 == capability / 10 && images[i].capability <= capability;
}}

CUresult load_{self.function}(void) {{
  CUdevice device;
  int major, minor, best = -1;
  CUresult code = cuCtxGetDevice(&device);
  if (code == CUDA_SUCCESS)
    code = cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  if (code == CUDA_SUCCESS)
    code = cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  if (code != CUDA_SUCCESS)
    return code;
  for (int i = 0; i < (int)(sizeof(images) / sizeof(*images)); ++i) {{
    if (!fits(i, major * 10 + minor))
      continue;
    int better = best < 0 || images[i].is_ptx < images[best].is_ptx ||
                 (images[i].is_ptx == images[best].is_ptx &&
                  images[i].capability > images[best].capability);
    if (better)
      best = i;
  }}
  if (best < 0)
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  CUmodule loaded;
  CUfunction found;
  code = cuModuleLoadData(&loaded, images[best].image);
  if (code != CUDA_SUCCESS)
    return code;
  code = cuModuleGetFunction(&found, loaded, "{metadata["name"]}");
  if (code == CUDA_SUCCESS && {shared} > 48 * 1024)
    code = cuFuncSetAttribute(found, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {shared});
  if (code != CUDA_SUCCESS) {{
    cuModuleUnload(loaded);
    return code;
  }}
  unload_{self.function}();
  module = loaded;
  function = found;
  return CUDA_SUCCESS;
}}

{self.declaration()} {{
  if (!function) {{
    CUresult code = load_{self.function}();
    if (code != CUDA_SUCCESS)
      return code;
  }}
  unsigned x = ({x}), y = ({y}), z = ({z});
  if (x == 0 || y == 0 || z == 0)
    return CUDA_SUCCESS;
  void *arguments[] = {{{", ".join([*names, "NULL"])}}};
  CUlaunchConfig config;
  memset(&config, 0, sizeof(config));
  config.gridDimX = x * {ctas};
  config.gridDimY = y;
  config.gridDimZ = z;
  config.blockDimX = {32 * metadata["num_warps"]};
  config.blockDimY = 1;
  config.blockDimZ = 1;
  config.sharedMemBytes = {shared};
  config.hStream = stream;{cluster}
  return cuLaunchKernelEx(&config, function, arguments, NULL);
}}
"""


def _bytes(data: bytes) -> str:
    rows = (data[i : i + 20] for i in range(0, len(data), 20))
    return "".join(",".join(map(str, row)) + ",\n" for row in rows)
