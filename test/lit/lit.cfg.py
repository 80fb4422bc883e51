"""lit configuration: `lit build/test/lit`, or one folder or file below it.

The suites of backends (`build/third_party/*/test/lit`) have it, too.
"""

import os
import sys

import lit.formats

config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".ptx", ".ll"]
config.excludes = ["Inputs"]
config.test_exec_root = config.tile_obj
config.maxIndividualTestTime = 120

# FileCheck, `not`, `count` and the other upstream tools come with LLVM.
path = [config.tile_bin, os.path.dirname(sys.executable), config.llvm_tools]
config.environment["PATH"] = os.pathsep.join([*path, os.environ.get("PATH", "")])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# glibc overwrites what is freed: what is used after that shows.
config.environment["MALLOC_PERTURB_"] = "165"

# Round-trip verification runs on every module every test parses.
config.substitutions.append((r"\btile-opt\b", "tile-opt --verify-roundtrip"))
# Tests write it in lower case, like the other tools.
config.substitutions.append((r"\bfilecheck\b", "FileCheck"))
config.substitutions.append(("%checkout", config.tile_source))
config.substitutions.append(("%build", config.tile_build))
