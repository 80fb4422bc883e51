"""Keeps what the front end writes for recorded launches of public libraries, one file a kernel.

So these kernels are compiled where the libraries, and torch, are not installed. The text is the
output of tile's own front end, without locations.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from .launches import TEST_CLIENTS, decode, find

#: Folders of libraries: what they are called on PyPI.
LIBRARIES = {"fla": "fla-core", "liger_kernel": "liger-kernel", "flag_gems": "flag-gems"}
#: The target whose options the front end is given. It looks at few of them.
TARGET = "cuda:90"


def write_text(entry: dict[str, Any]) -> str:
    """The `tt` module of a recorded launch, as the front end wrote it."""
    import triton

    from tile import _C
    from tile.backends import find_backend, parse_target

    fn = find(entry["module"], entry["name"], triton.JITFunction)
    dtype = lambda text: triton.language.str_to_ty(text, None)  # noqa: E731
    constants = {decode(k, dtype): decode(v, dtype) for k, v in entry["constants"]}
    attrs = {decode(k, dtype): decode(v, dtype) for k, v in entry["attrs"]}
    options = {k: decode(v, dtype) for k, v in entry["options"].items()}
    source = triton.compiler.ASTSource(fn, entry["signature"], constants, attrs)
    parsed = find_backend(parse_target(TARGET)).parse_options(options)
    module = source.make_ir(parsed, _C.ir.Context())
    return module.str(enable_debug_info=False, use_name_loc_as_prefix=False)


def header(entry: dict[str, Any]) -> str:
    """What the file says of itself; the second line is read back."""
    library = LIBRARIES[entry["module"].split(".")[0]]
    version = importlib.metadata.version(library)
    options = {k: v for k, v in entry["options"].items() if not isinstance(v, dict)}
    return (
        f"// {entry['module']}.{entry['name']}, {library} {version}, as tile's front end wrote it\n"
        f"// options: {json.dumps(options)}\n"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("records", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--match", default="", help="kernels whose name matches the expression")


def run(arguments: argparse.Namespace) -> int:
    """A file for the last launch of each function."""
    os.environ["TILE_COMPAT"] = "1"
    os.environ["TILE_DRIVER"] = "sim"
    sys.path.insert(0, str(TEST_CLIENTS))
    import gems

    import tile.compat  # noqa: F401

    gems.configure("cpu")  # The others need no more than this: a GPU that is pretended.
    lines = arguments.records.read_text().splitlines()
    last = {(e["module"], e["name"]): e for e in map(json.loads, lines)}
    arguments.folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for entry in last.values():
        name = f"{entry['module'].split('.')[0]}.{entry['name']}"
        if not re.search(arguments.match, name):
            continue
        path = arguments.folder / f"{name}.ttir"
        for number in range(2, 100):
            if not path.exists():
                break
            path = arguments.folder / f"{name}.{number}.ttir"
        try:
            path.write_text(header(entry) + write_text(entry))
            written += 1
        except Exception as error:
            print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
    print(f"{written} kernels")
    sys.stdout.flush()
    os._exit(0)  # Libraries leave threads behind.
