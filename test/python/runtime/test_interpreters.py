"""Several interpreters in one process: tile works in the one that loaded it first."""

from __future__ import annotations

import subprocess
import sys

import pytest
from reference import sim_only

pytestmark = sim_only

#: Compiles in the main interpreter, imports in another one, as its arguments say.
PROGRAM = """
import sys

try:
    import _interpreters as interpreters

    make, run = lambda: interpreters.create("legacy"), interpreters.exec
except ImportError:
    import _xxsubinterpreters as interpreters

    options = {"isolated": False} if sys.version_info >= (3, 12) else {}
    make, run = lambda: interpreters.create(**options), interpreters.run_string

ELSEWHERE = '''
import sys
sys.path[:] = {path}
try:
    import tile
    print("loaded", flush=True)
except ImportError as error:
    print(error, flush=True)
'''

for place in sys.argv[1:]:
    if place == "here":
        import tile

        target = tile.GPUTarget("cuda", 90, 32)
        assert ".entry k" in tile.compile({kernel!r}, target, stop_at="ptx").asm["ptx"]
        print("compiled", flush=True)
    else:
        other = make()
        run(other, ELSEWHERE.replace("{path}", repr(sys.path)))
        interpreters.destroy(other)
"""

REFUSED = "tile is in use in another interpreter of this process, and works in one of them"


@pytest.mark.parametrize(
    "order, said",
    [
        ("here elsewhere here elsewhere here", "compiled refused compiled refused compiled"),
        ("elsewhere elsewhere", "loaded refused"),
    ],
    ids=["main first", "other first"],
)
def test_another_interpreter(order, said, tmp_path):
    kernel = tmp_path / "k.ttir"
    kernel.write_text("module { tt.func public @k(%p: !tt.ptr<i32>) { tt.return } }\n")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("{kernel!r}", repr(str(kernel))))
    done = subprocess.run(
        [sys.executable, str(program), *order.split()], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    found = ["refused" if line.startswith(REFUSED) else line for line in done.stdout.splitlines()]
    assert found == said.split()
