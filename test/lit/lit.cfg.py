"""lit configuration: `lit test/lit`, or one folder or file below it, there or in the build folder.

The suites of backends (`third_party/*/test/lit`) have it, too. `TILE_BUILD` names another build
folder than `build`.
"""

import os
import sys

import lit.formats

if not hasattr(config, "tile_obj"):
    # The source folder was named: the build folder knows the rest, and reads this file again.
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    built = os.path.join(root, os.environ.get("TILE_BUILD", "build"))
    site = os.path.join(built, "test", "lit", "lit.site.cfg.py")
    if not os.path.exists(site):
        lit_config.fatal(f"there is no {site}: build first, or name the build folder in TILE_BUILD")
    lit_config.load_config(config, site)
    raise SystemExit

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
