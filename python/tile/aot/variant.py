"""One variant of a kernel as a C file and its header."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..backends import GPUTarget, parse_target
from ..errors import TileError
from ..hints import closest
from ..runtime import overlap
from .signature import KEYWORDS, Argument, parse_signature, split

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
    kernel = _kernel_of(getattr(module, name, None))
    if kernel is None:
        names = [n for n, value in vars(module).items() if _kernel_of(value) is not None]
        raise TileError(
            f"{path} has no kernel `{name}`; it has {', '.join(names) or 'none'}"
            f"{closest(name, names)}"
        )
    return kernel


def _kernel_of(value: Any) -> Any:
    """The kernel below autotune and heuristics; None if there is none."""
    while value is not None and not getattr(value, "__tile_jit__", False):
        value = getattr(value, "fn", None)
    return value


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

    `grid` has up to three expressions in C over the kernel's parameters, constants among them.
    With `ptx` the driver compiles the PTX on devices that no target fits.
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
    chosen = list(dict.fromkeys(map(parse_target, targets))) or [_current_target()]
    for target in chosen:
        if target.backend != "cuda":
            raise TileError(f"kernels become C that calls libcuda, which cannot load {target}'s")

    def compile(**more: Any) -> list[Any]:
        # Tensor maps are in scratch memory, which a C function cannot give a kernel.
        more["disable_passes"] = "triton-nvidia-optimize-descriptor-encoding"
        more["raise_pointers"] = False
        return [compile_source(source, target=t, options={**options, **more}) for t in chosen]

    compiled = compile()
    pairs = sorted({pair for k in compiled for pair in overlap.pairs_of(k)})
    if pairs:  # For arguments that these take to be disjoint, and are not.
        compiled += compile(**{overlap.OPTION: True})
    scratch = [k for k in compiled if k._metadata.get("global_scratch_size")]
    if scratch:
        raise TileError(f"`{kernel_name}` needs scratch memory, which a C function cannot give it")
    variant = Variant(
        out_name or kernel_name, kernel, arguments, grid, options, chosen, compiled, pairs
    )
    return variant.write(Path(out_path), ptx)


def _current_target() -> GPUTarget:
    from ..runtime.driver import driver

    return driver.active.get_current_target()


#: Names in C's expressions that are no parameters.
_TYPES_OF_C = frozenset(
    "char short int long unsigned signed float double size_t sizeof "
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t".split()
)


def _check_grid(grid: str, names: list[str]) -> None:
    """Are all names in the grid parameters?"""
    for name in re.findall(r"(?<![\w.])[A-Za-z_]\w*(?!\w|\s*\()", grid):
        if name not in names and name not in _TYPES_OF_C:
            raise TileError(
                f"the grid {grid!r} asks for {name!r}, which is no parameter; the parameters are "
                f"{', '.join(names)}{closest(name, names)}"
            )


class Variant:
    """A kernel, compiled for one signature and some targets."""

    def __init__(
        self, name: str, kernel: Any, arguments: list[Argument], grid: str,
        options: dict[str, int], targets: list[GPUTarget], compiled: list[Any],
        pairs: list[tuple[int, int]],
    ) -> None:  # fmt: skip
        """Each target has code for arguments of which these `pairs` are disjoint. If there are
        pairs, it also has code for arguments that overlap, which comes second."""
        self.name, self.arguments, self.options = name, arguments, options
        self.targets, self.compiled, self.pairs = targets, compiled, pairs
        if not name.isidentifier():
            raise TileError(f"{name!r} is no name of a function in C")
        _check_grid(grid, [a.name for a in arguments])
        for a in arguments:
            spelled = f"({int(a.value)})" if isinstance(a.value, int) else a.c_name
            if spelled != a.name and a.name not in KEYWORDS:
                grid = re.sub(rf"\b{re.escape(a.name)}\b", spelled, grid)
        self.grid = [part for part in split(grid, "[](){}") if part]
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
        texts = {header: self.header(), source: self.source(header.name, ptx)}
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return list(texts)

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

// Loads the kernel into the current context, the only one that it can be launched in until it is
// loaded again. The first launch does it too; where threads launch, load the kernel before.
CUresult load_{self.function}(void);
void unload_{self.function}(void);
{self.declaration()};

#ifdef __cplusplus
}}
#endif
#endif
"""

    def images(self, ptx: bool) -> list[tuple[int, str, bool, bytes]]:
        """The compute capability, the kind, whether it is for arguments that overlap, and the
        contents of what is embedded; machine code first."""
        count = len(self.targets)
        made = [
            (int(self.targets[i % count].arch), i >= count, kernel.asm)
            for i, kernel in enumerate(self.compiled)
        ]
        images = [(arch, "cubin", o, asm["cubin"]) for arch, o, asm in made if "cubin" in asm]
        if ptx or not images:
            images += [(arch, "ptx", o, asm["ptx"].encode() + b"\0") for arch, o, asm in made]
        return images

    def overlap_check(self) -> tuple[str, str]:
        """C functions, and an expression: whether arguments overlap that this takes to be
        disjoint. The driver tells allocations apart, not what a caller has of one."""
        if not self.pairs:
            return "", "0"
        names = [n for a in self.arguments for n in a.c_arguments()]
        meet = " || ".join(f"tile_may_meet({names[i]}, {names[j]})" for i, j in self.pairs)
        function = """
// Whether two pointers are into one allocation, or into one that the driver does not know.
static int tile_may_meet(CUdeviceptr first, CUdeviceptr second) {
  CUdeviceptr base, other;
  size_t size;
  if (!first || !second)
    return 0;
  return cuMemGetAddressRange(&base, &size, first) != CUDA_SUCCESS ||
         cuMemGetAddressRange(&other, &size, second) != CUDA_SUCCESS || base == other;
}
"""
        return function, meet

    def source(self, header: str, ptx: bool) -> str:
        return f"""\
// Made by tile {__version__}.
#include "{header}"
#include <string.h>

{self._images_in_c(ptx)}{self._loading_in_c()}{self._launching_in_c()}"""

    @property
    def _shared(self) -> int:
        return max(k._metadata.get("shared", 0) for k in self.compiled)

    def _images_in_c(self, ptx: bool) -> str:
        """What is embedded, and a table of it."""
        images = self.images(ptx)
        arrays = "".join(
            f"static const unsigned char image{i}[] = {{ // {kind} for sm_{arch}"
            f"{', where arguments overlap' if overlapping else ''}\n"
            f"{_bytes(data)}}};\n"
            for i, (arch, kind, overlapping, data) in enumerate(images)
        )
        table = "".join(
            f"    {{{arch}, {int(kind == 'ptx')}, {int(overlapping)}, image{i}}},\n"
            for i, (arch, kind, overlapping, _) in enumerate(images)
        )
        variants = 1 + bool(self.pairs)
        return f"""\
{arrays}
static const struct {{
  int capability;
  int is_ptx;
  int overlapping; // for arguments that overlap
  const unsigned char *image;
}} images[] = {{
{table}}};
static CUmodule modules[{variants}];
static CUfunction functions[{variants}];

"""

    def _loading_in_c(self) -> str:
        """Functions that choose one of the images, load it and unload it."""
        variants, shared = 1 + bool(self.pairs), self._shared
        kernel = self.compiled[0]._metadata["name"]
        return f"""\
void unload_{self.function}(void) {{
  for (int i = 0; i < {variants}; ++i) {{
    if (modules[i])
      cuModuleUnload(modules[i]);
    modules[i] = NULL;
    functions[i] = NULL;
  }}
}}

// Machine code runs on the devices of its major version from its minor one on,
// PTX on all later ones.
static int fits(int i, int capability) {{
  if (images[i].is_ptx)
    return images[i].capability <= capability;
  return images[i].capability / 10 == capability / 10 && images[i].capability <= capability;
}}

static CUresult load(int overlapping) {{
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
    if (images[i].overlapping != overlapping || !fits(i, major * 10 + minor))
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
  code = cuModuleGetFunction(&found, loaded, "{kernel}");
  if (code == CUDA_SUCCESS && {shared} > 48 * 1024)
    code = cuFuncSetAttribute(found, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, {shared});
  if (code != CUDA_SUCCESS) {{
    cuModuleUnload(loaded);
    return code;
  }}
  modules[overlapping] = loaded;
  functions[overlapping] = found;
  return CUDA_SUCCESS;
}}

CUresult load_{self.function}(void) {{
  CUresult code = CUDA_SUCCESS;
  unload_{self.function}();
  for (int i = 0; i < {variants} && code == CUDA_SUCCESS; ++i)
    code = load(i);
  if (code != CUDA_SUCCESS)
    unload_{self.function}();
  return code;
}}

"""

    def _launching_in_c(self) -> str:
        """The function that launches, and the one that callers see."""
        may_meet, overlapping = self.overlap_check()
        metadata, shared = self.compiled[0]._metadata, self._shared
        ctas = metadata.get("num_ctas", 1)
        names = [f"&{n}" for a in self.arguments for n in a.c_arguments()]
        ones = "".join(f"  (void){a.c_name};\n" for a in self.arguments if a.hint == 1)
        x, y, z = (f"(unsigned)({extent})" for extent in self.grid)
        cluster = ""
        if ctas > 1:
            cluster = f"""
  CUlaunchAttribute cluster = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                               .value.clusterDim = {{{ctas}, 1, 1}}}};
  config.attrs = &cluster;
  config.numAttrs = 1;"""
        return f"""\
static CUresult tile_launch(CUstream stream, unsigned x, unsigned y, unsigned z, void **arguments,
                            int overlapping) {{
  if (!functions[0]) {{
    CUresult code = load_{self.function}();
    if (code != CUDA_SUCCESS)
      return code;
  }}
  if (x == 0 || y == 0 || z == 0)
    return CUDA_SUCCESS;
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
  return cuLaunchKernelEx(&config, functions[overlapping], arguments, NULL);
}}
{may_meet}
// What is not a parameter here begins with tile_.
{self.declaration()} {{
{ones}  void *tile_arguments[] = {{{", ".join([*names, "0"])}}};
  return tile_launch(stream, {x}, {y}, {z}, tile_arguments, {overlapping});
}}
"""


def _bytes(data: bytes) -> str:
    rows = (data[i : i + 20] for i in range(0, len(data), 20))
    return "".join(",".join(map(str, row)) + ",\n" for row in rows)
