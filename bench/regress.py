"""Numbers that cannot rot: what the code of 250 kernels takes on seven targets, in a table.

    python bench/regress.py check [--share]

    python bench/regress.py update

    python bench/regress.py bisect TARGET KERNEL

`check` compares with the table, and ends with 1 where something is worse. `update` writes the
table anew. `bisect` finds the commit since which a row is worse. `--help` lists the other commands.

The kernels are the examples and the corpus at the configurations that are measured
(`quality/cases.py`), and launches of public libraries as tile's front end wrote them
(`recorded/`). `check` compiles to PTX or AMDGCN. It asks ptxas only where this text is another one
than the row's. None of this needs a GPU, or a library. `record`, `collect` and `public` need the
libraries. `beside --peer` needs a Python that has Triton.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile

#: For each command: a line of help, the module, the function that adds options, the one that runs.
COMMANDS = {
    "check": ("compare with the table", "check", "add_check_options", "run_check"),
    "update": ("write the table anew", "check", "add_update_options", "run_update"),
    "bisect": ("find the commit of a change", "history", "add_bisect_options", "run_bisect"),
    "texts": ("which texts a change leaves alone", "texts", "add_options", "run"),
    "beside": ("execute kernels, beside Triton's", "beside", "add_options", "run"),
    "record": ("note launches of libraries", "launches", "add_options", "run"),
    "collect": ("keep what the front end writes for them", "collect", "add_options", "run"),
    "public": ("compile them from source", "public", "add_compile_options", "compile_recorded"),
    "public-table": ("compare two such runs", "public", "add_table_options", "print_table"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    wanted = next((word for word in sys.argv[1:] if word in COMMANDS), None)
    for name, (line, module, add_options, _) in COMMANDS.items():
        one = commands.add_parser(name, help=line, description=line)
        if name == wanted:  # Others may run where tile is not.
            getattr(importlib.import_module(f"quality.{module}"), add_options)(one)
    arguments = parser.parse_args()
    _, module, _, run = COMMANDS[arguments.command]
    return getattr(importlib.import_module(f"quality.{module}"), run)(arguments) or 0


if __name__ == "__main__":
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="tile-bench-cache-"))
    sys.exit(main())
