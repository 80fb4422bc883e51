"""Which local variables may be read before they have a value, against running every path."""

from __future__ import annotations

import ast
import itertools
import random

import pytest
from reference import sim_only

from tile.runtime.early import read_early

pytestmark = sim_only
NAMES = ("a", "b", "c")


class Programs:
    """Random functions. Each choice, of a branch or of how often a loop runs, is its own."""

    def __init__(self, seed: int, leaves: bool) -> None:
        self.random = random.Random(seed)
        self.leaves = leaves
        self.choices = 0

    def choice(self) -> str:
        self.choices += 1
        return f"choose[{self.choices - 1}]"

    def value(self, depth: int = 0) -> str:
        kind = self.random.randrange(7 if depth < 2 else 3)
        if kind < 2:
            return self.random.choice(NAMES)
        if kind == 2:
            return "1"
        one, two = self.value(depth + 1), self.value(depth + 1)
        name = self.random.choice(NAMES)
        return {
            3: f"({one} + {two})",
            4: f"({one} if {self.choice()} else {two})",
            5: f"({self.choice()} and {one})",
            6: f"({name} := {one})",
        }[kind]

    def block(self, depth: int, in_loop: bool) -> list[str]:
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(depth, in_loop)
        return lines

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        one, two = self.random.sample(NAMES, 2)
        kind = self.random.randrange(9 if depth < 2 else 5)
        if kind == 0:
            return [f"{one} = {self.value()}"]
        if kind == 1:
            return [f"{one}, {two} = {self.value()}, {self.value()}"]
        if kind == 2:
            return [f"{one} += {self.value()}"]
        if kind == 3:
            return [f"{one}: int = {self.value()}"]
        if kind == 4:
            if self.leaves:
                return [
                    self.random.choice(
                        ["return 1", "break", "continue"] if in_loop else ["return 1"]
                    )
                ]
            return [self.value()]
        if kind == 5:
            head, inner = f"for {one} in range({self.choice()}):", True
        elif kind == 6:
            head, inner = f"for _ in range({self.choice()}):", True
        else:
            head, inner = f"if {self.choice()} > {self.random.randrange(2)}:", in_loop
        lines = [head, *(" " + line for line in self.block(depth + 1, inner))]
        if self.random.randrange(2) and not (inner and self.leaves):
            lines += ["else:", *(" " + line for line in self.block(depth + 1, in_loop))]
        return lines

    def program(self) -> str:
        lines = self.block(0, False)
        return "\n".join(f" {line}" for line in lines)


class Watched(dict):
    """Variables that note reads before any write, and answer them."""

    def __init__(self) -> None:
        super().__init__()
        self.early: set[str] = set()

    def __missing__(self, name: str) -> int:
        if name not in NAMES:
            raise KeyError(name)
        self.early.add(name)
        return 1


def early_of(text: str, choices: int) -> set[str]:
    """What some path reads early."""
    found: set[str] = set()
    code = compile(
        f"for _once in (0,):\n{text}".replace("return 1", "raise Done"), "<program>", "exec"
    )
    for choose in itertools.product((0, 1, 2), repeat=choices):
        variables = Watched()
        variables["choose"] = choose
        try:
            exec(code, {"Done": StopIteration, "range": range}, variables)
        except StopIteration:
            pass
        found |= variables.early
    return found


@pytest.mark.parametrize("leaves", [False, True])
@pytest.mark.parametrize("part", range(4))
def test_against_every_path(part, leaves):
    seen = 0
    for seed in range(part * 1000, part * 1000 + 1000):
        programs = Programs(seed, leaves)
        text = programs.program()
        if programs.choices > 5:
            continue
        seen += 1
        function = ast.parse(f"def f():\n{text}").body[0]
        early = read_early(function.body) & set(NAMES)
        expected = early_of(text, programs.choices)
        # Paths that end early are taken to go on: then there may be more.
        assert expected <= early if leaves else expected == early, text
    assert seen > 200


def test_variables_of_comprehensions_are_their_own():
    function = ast.parse("def f():\n x = [a + b for a in c]\n return a").body[0]
    assert read_early(function.body) == {"a", "b", "c"}
    function = ast.parse("def f():\n x = [a for a in (1, 2)]\n return x").body[0]
    assert read_early(function.body) == set()


def test_parameters_have_values():
    function = ast.parse("def f(a, *b, c=d):\n return a + b + c + d").body[0]
    assert read_early([function.args, *function.body]) == {"d"}
