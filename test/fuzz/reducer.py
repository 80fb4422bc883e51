"""Makes a failing program smaller, as long as it fails in the same way.

It works on the syntax tree of the source, so it needs to know nothing of how a program came about.
A step that makes the program invalid makes it fail in another way, and is undone.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import runner
from .program import Config, Program

RUN = Path(__file__).with_name("run.py")


def fails_as(program: Program, mode: str, isolated: bool) -> str | None:
    """How a program fails; None if it does not."""
    if not isolated:
        try:
            runner.check(program, mode)
        except runner.Failure as failure:
            return failure.signature
        return None
    command = [sys.executable, str(RUN), "--program", f"--mode={mode}"]
    try:
        process = subprocess.run(
            command, input=repr(program), text=True, capture_output=True, timeout=60
        )
    except subprocess.TimeoutExpired:
        return "crash"
    if process.returncode == 0:
        return process.stdout.strip() or None
    return "crash"


class Reducer:
    """The best program so far, and attempts to better it."""

    def __init__(self, program: Program, mode: str, signature: str, seconds: float = 180) -> None:
        self.program = program
        self.mode = mode
        self.isolated = signature.startswith("crash")
        self.signature = "crash" if self.isolated else signature
        self.end = time.time() + seconds
        self.tries = 0

    def accept(self, candidate: Program) -> bool:
        """Takes a program if it fails as the first one did."""
        if time.time() > self.end or candidate == self.program:
            return False
        self.tries += 1
        if fails_as(candidate, self.mode, self.isolated) != self.signature:
            return False
        self.program = candidate
        return True

    def run(self) -> Program:
        before = None
        while before != self.program and time.time() < self.end:
            before = self.program
            self.configuration()
            self.sources(deletions)
            self.sources(unwrappings)
            self.sources(shortcuts)
            self.sources(smaller_extents)
            self.arguments()
        return self.program

    def configuration(self) -> None:
        config = self.program.config
        for stages in (1, 2):
            if config.num_stages > stages:
                self.accept(self.program.replace(config=self._config(num_stages=stages)))
        for warps in (1, 2, 4):
            if self.program.config.num_warps > warps:
                self.accept(self.program.replace(config=self._config(num_warps=warps)))
        self.accept(self.program.replace(config=self._config(target=80)))
        for option in self.program.config.options:
            rest = tuple(o for o in self.program.config.options if o != option)
            self.accept(self.program.replace(config=self._config(options=rest)))
        if self.program.grid != (1,):
            self.accept(self.program.replace(grid=(1,)))

    def _config(self, **changes: Any) -> Config:
        return dataclasses.replace(self.program.config, **changes)

    def sources(self, variants: object) -> None:
        """Tries all variants of the source; begins again with the rest after each success."""
        position = 0
        while time.time() < self.end:
            tree = ast.parse(self.program.source)
            for i, text in enumerate(variants(tree)):  # type: ignore[operator]
                if i >= position and self.accept(self.program.replace(source=text)):
                    position = i
                    break
            else:
                return

    def arguments(self) -> None:
        """Drops parameters that nothing uses; aligns arrays."""
        for argument in self.program.arguments:
            tree = ast.parse(self.program.source)
            names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
            kernel = next(f for f in tree.body if getattr(f, "name", "") == "kernel")
            assert isinstance(kernel, ast.FunctionDef)
            viewed = any(a.view and a.view[0] == argument.name for a in self.program.arguments)
            if argument.name not in names and not viewed:
                kernel.args.args = [a for a in kernel.args.args if a.arg != argument.name]
                rest = tuple(a for a in self.program.arguments if a.name != argument.name)
                self.accept(self.program.replace(source=unparse(tree), arguments=rest))


def unparse(tree: ast.AST) -> str:
    return ast.unparse(tree) + "\n"


def nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """All that may change: functions that combine values stay, for they must be associative."""
    for function in tree.body:
        name = getattr(function, "name", "")
        if name == "kernel" or (name[:1] == "f" and name[1:].isdigit()):
            yield from ast.walk(function)


def blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """All lists of statements, inner ones last."""
    for node in nodes(tree):
        for field in ("body", "orelse"):
            found = getattr(node, field, None)
            if isinstance(found, list) and found:
                yield found


def deletions(tree: ast.Module) -> Iterator[str]:
    """Without runs of statements: long ones first, from the end; without whole functions."""
    for i, node in enumerate(tree.body):
        if isinstance(node, ast.FunctionDef) and node.name != "kernel":
            rest = [n for j, n in enumerate(tree.body) if j != i]
            yield unparse(ast.Module(rest, []))
    for block in blocks(tree):
        original = list(block)
        size = len(original)
        length = size
        while length >= 1:
            for start in range(size - length, -1, -max(1, length)):
                block[:] = original[:start] + original[start + length :] or [ast.Pass()]
                yield unparse(tree)
            length //= 2
        block[:] = original


def unwrappings(tree: ast.Module) -> Iterator[str]:
    """Branches and loops replaced by what is in them."""
    for block in blocks(tree):
        for i, node in enumerate(list(block)):
            bodies = []
            if isinstance(node, ast.If):
                bodies = [node.body, node.orelse]
            elif isinstance(node, (ast.For, ast.While)):
                first = []
                if isinstance(node, ast.For):
                    first = [ast.Assign([node.target], ast.Constant(0), lineno=0)]
                bodies = [[*first, *node.body]]
            for inner in bodies:
                saved = list(block)
                block[i : i + 1] = inner or [ast.Pass()]
                yield unparse(tree)
                block[:] = saved


def shortcuts(tree: ast.Module) -> Iterator[str]:
    """Without masks and options of loads and stores; values replaced by one of their operands."""
    for node in nodes(tree):
        if isinstance(node, ast.Call) and node.keywords:
            saved = node.keywords
            node.keywords = []
            yield unparse(tree)
            node.keywords = saved
            for i in range(len(saved)):
                if saved[i].arg not in ("mask", "other"):
                    node.keywords = saved[:i] + saved[i + 1 :]
                    yield unparse(tree)
            node.keywords = saved
    for node in nodes(tree):
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Name):
            saved_value = node.value
            for inner in ast.walk(saved_value):
                if isinstance(inner, ast.Name) and inner.id not in ("tl", "tile"):
                    node.value = ast.Name(inner.id, ast.Load())
                    yield unparse(tree)
            node.value = saved_value


def smaller_extents(tree: ast.Module) -> Iterator[str]:
    """A power of two halved wherever it occurs."""
    numbers = {
        n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int
    }
    for number in sorted(numbers, reverse=True):
        if number >= 2 and not number & (number - 1):
            changed = copy.deepcopy(tree)
            for node in ast.walk(changed):
                if isinstance(node, ast.Constant) and node.value == number:
                    node.value = number // 2
            yield unparse(changed)


def reduce(program: Program, mode: str, signature: str, seconds: float = 180) -> Program:
    """The smallest program found that fails with `signature`."""
    return Reducer(program, mode, signature, seconds).run()
