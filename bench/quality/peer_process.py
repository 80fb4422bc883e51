"""Runs under Triton's interpreter: code of the cases named on stdin, as JSON lines on stdout.

python -m quality.peer_process cuda 80 32 ptx < names
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="tile-bench-cache-"))

from peer import load_for_peer

from .cases import cases, cases_of


def main() -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    wanted = set(sys.stdin.read().splitlines())
    kind, arch, warp_size, stage = sys.argv[1:]
    target = GPUTarget(kind, int(arch) if arch.isdigit() else arch, int(warp_size))
    known = cases_of(kind, target.arch) + (cases(everything=True) if kind == "cuda" else [])
    modules = {}
    for case in known:
        if case.name not in wanted:
            continue
        wanted.remove(case.name)
        if case.example not in modules:
            modules[case.example] = load_for_peer(case.example)
        fn = getattr(modules[case.example], case.kernel)
        source = ASTSource(
            fn=fn,
            signature=case.signature(fn.arg_names),
            constexprs=case.constants,
            attrs=case.attributes(fn.arg_names, kind),
        )
        record = {"name": case.name}
        try:
            compiled = triton.compile(source, target=target, options=case.options)
            record |= {"text": compiled.asm[stage], "shared": compiled.metadata.shared}
        except Exception as error:
            record["error"] = f"{error}\n{error.__cause__ or ''}"[-600:]
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
