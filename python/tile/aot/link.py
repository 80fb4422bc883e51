"""The functions that choose among the variants of a kernel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import TileError
from .signature import KEYWORDS
from .variant import MARK


def _read(path: Path) -> dict[str, Any]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TileError(f"cannot read {path}: {error}") from None
    for line in lines:
        if line.startswith(MARK):
            return {**json.loads(line.removeprefix(MARK)), "header": path.name}
    raise TileError(f"{path} is no header that `tile compile` wrote")


def link(headers: Sequence[str | Path], out_path: str | Path, prefix: str = "") -> list[Path]:
    """Writes ``<out_path>.{h,c}``: for each kernel ``<kernel>_default``, which uses the first
    variant whose hints hold, and ``<kernel>``, which takes the number of an algorithm too; all
    names begin with the prefix."""
    if not headers:
        raise TileError("nothing to link: name the headers that `tile compile` wrote")
    variants = [_read(Path(path)) for path in headers]
    kernels: dict[str, list[dict[str, Any]]] = {}
    for variant in variants:
        kernels.setdefault(prefix + variant["kernel"], []).append(variant)
    for name, group in kernels.items():
        _check(name, group)
    out = Path(out_path)
    out.parent.mkdir(parents=True, exist_ok=True)
    header, source = out.with_name(f"{out.name}.h"), out.with_name(f"{out.name}.c")
    header.write_text(_header(header.stem, variants, kernels), encoding="utf-8")
    text = "".join(_kernel(name, group) for name, group in sorted(kernels.items()))
    text = f'// Made by tile {__version__}.\n#include "{header.name}"\n{text}'
    source.write_text(text, encoding="utf-8")
    return [header, source]


def _check(name: str, group: list[dict[str, Any]]) -> None:
    if name in KEYWORDS or not name.isidentifier():
        raise TileError(
            f"`{name}` is no name of a function in C; compile it with another --out-name"
        )
    for variant in group[1:]:
        if variant["parameters"] != group[0]["parameters"]:
            raise TileError(
                f"the variants of `{name}` have other parameters: {group[0]['header']} and "
                f"{variant['header']}"
            )


def _list(variant: dict[str, Any], types: bool) -> str:
    return "".join(f", {ty} {n}" if types else f", {n}" for ty, n in variant["parameters"])


def _header(name: str, variants: list[dict], kernels: dict[str, list[dict]]) -> str:
    guard = "TILE_" + "".join(c if c.isalnum() else "_" for c in name).upper() + "_H"
    includes = "".join(f'#include "{v["header"]}"\n' for v in variants)
    declared = ""
    for kernel, group in sorted(kernels.items()):
        parameters = _list(group[0], types=True)
        declared += f"""
CUresult load_{kernel}(void);
void unload_{kernel}(void);
int {kernel}_get_num_algos(void);
CUresult {kernel}_default(CUstream stream{parameters});
CUresult {kernel}(CUstream stream{parameters}, int algo_id);
"""
    return f"""\
// Made by tile {__version__}.
#ifndef {guard}
#define {guard}
{includes}#ifdef __cplusplus
extern "C" {{
#endif
{declared}
#ifdef __cplusplus
}}
#endif
#endif
"""


def _kernel(name: str, group: list[dict[str, Any]]) -> str:
    algorithms: dict[str, list[dict[str, Any]]] = {}
    for variant in group:
        algorithms.setdefault(json.dumps(variant["algorithm"], sort_keys=True), []).append(variant)
    parameters, values = _list(group[0], types=True), _list(group[0], types=False)
    cases = ""
    for i, (algorithm, variants) in enumerate(algorithms.items()):
        cases += f"  case {i}: // {algorithm}\n"
        # What asks for most comes first.
        for variant in sorted(variants, key=lambda v: -len(v["conditions"])):
            condition = " && ".join(variant["conditions"]) or "1"
            call = f"{variant['function']}(stream{values})"
            cases += f"    if ({condition})\n      return {call};\n"
        cases += "    return CUDA_ERROR_INVALID_VALUE;\n"
    loads = "".join(
        f"  if (code == CUDA_SUCCESS)\n    code = load_{v['function']}();\n" for v in group
    )
    unloads = "".join(f"  unload_{v['function']}();\n" for v in group)
    return f"""
CUresult load_{name}(void) {{
  CUresult code = CUDA_SUCCESS;
{loads}  return code;
}}

void unload_{name}(void) {{
{unloads}}}

int {name}_get_num_algos(void) {{ return {len(algorithms)}; }}

CUresult {name}(CUstream stream{parameters}, int algo_id) {{
  switch (algo_id) {{
{cases}  default:
    return CUDA_ERROR_INVALID_VALUE;
  }}
}}

CUresult {name}_default(CUstream stream{parameters}) {{
  return {name}(stream{values}, 0);
}}
"""
