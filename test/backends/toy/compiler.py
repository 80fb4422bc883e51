"""Compilation for the toy machine: TTIR, assembly, bytes."""

from __future__ import annotations

import functools
import zlib
from typing import Any

from tile import knobs
from tile.backends.base import BaseBackend, GPUTarget
from tile.compiler.pipelines import run_stage
from tile.errors import TileError

from .options import ToyOptions
from .stages import STAGES


class ToyBackend(BaseBackend):
    """Compiles for targets such as ``GPUTarget("toy", "one", 1)``."""

    STAGES = STAGES

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "toy"

    @staticmethod
    def target_names() -> list[str]:
        return ["toy"]

    @classmethod
    def find_target(cls, arch: str) -> GPUTarget:
        if arch not in ("one", "two"):
            raise TileError(f"unknown target toy:{arch}: known ones are toy:one, toy:two")
        return GPUTarget("toy", arch, 1)

    def hash(self) -> str:
        return str(self.target)

    def parse_options(self, options: dict[str, Any]) -> ToyOptions:
        given = ToyOptions.of(options)
        given["backend_name"], given["arch"] = self.target.backend, self.target.arch
        given.setdefault("toy_prefix", knobs.toy.prefix)
        return ToyOptions(**given)

    def stages(self, options: ToyOptions) -> dict[str, Any]:
        return {
            "ttir": functools.partial(self.make_ttir, options=options),
            "toyasm": functools.partial(self.make_toyasm, options=options),
            "toybin": self.make_toybin,
        }

    def make_ttir(self, module: Any, metadata: dict[str, Any], *, options: ToyOptions) -> Any:
        arguments = options.ttir_arguments()
        return run_stage(module, "tile-ttir", metadata["name"], options, arguments)

    def make_toyasm(self, module: Any, metadata: dict[str, Any], *, options: ToyOptions) -> str:
        lines = [f".machine {self.target.arch}", f".kernel {metadata['name']}"]
        names: dict[int, str] = {}

        def name(value: Any) -> str:
            return names.setdefault(value.id(), f"{options.toy_prefix}{len(names)}")

        def emit(op: Any) -> None:
            if op.get_name() in ("builtin.module", "tt.func"):
                return
            if op.get_num_regions():
                raise TileError(f"the toy machine has no `{op.get_name()}`")
            operands = [name(op.get_operand(i)) for i in range(op.get_num_operands())]
            results = [name(op.get_result(i)) for i in range(op.get_num_results())]
            made = f"{', '.join(results)} = " if results else ""
            lines.append(f"  {made}{' '.join([op.get_name(), *operands])}")

        module.walk(emit)
        return "\n".join(lines) + "\n"

    def make_toybin(self, assembly: str, metadata: dict[str, Any]) -> bytes:
        metadata["n_regs"] = sum(" = " in line for line in assembly.splitlines())
        return zlib.compress(assembly.encode())
