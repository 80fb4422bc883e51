"""`match` as the chain of `if` that it stands for."""

from __future__ import annotations

import ast
import copy


class Unknown(Exception):
    """A pattern that kernels do not have."""


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression may be written several times."""
    if isinstance(node, ast.Attribute):
        return _is_plain(node.value)
    if isinstance(node, ast.Tuple):
        return all(map(_is_plain, node.elts))
    return isinstance(node, (ast.Name, ast.Constant))


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_load(name), list(arguments), [])


def _item(subject: ast.expr, index: ast.expr) -> ast.expr:
    return ast.Subscript(subject, index, ast.Load())


class _Case:
    """What one case asks of the subject, and which names it binds."""

    def __init__(self, pattern: ast.pattern, subject: ast.expr) -> None:
        self.tests: list[ast.expr] = []
        self.bound: list[tuple[str, ast.expr]] = []
        self.add(pattern, subject)

    def add(self, pattern: ast.pattern, subject: ast.expr) -> None:
        if isinstance(pattern, ast.MatchValue):
            self.tests.append(ast.Compare(subject, [ast.Eq()], [pattern.value]))
        elif isinstance(pattern, ast.MatchSingleton):
            self.tests.append(ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)]))
        elif isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self.add(pattern.pattern, subject)
            if pattern.name is not None:
                self.bound.append((pattern.name, subject))
        elif isinstance(pattern, ast.MatchOr):
            cases = [_Case(p, subject) for p in pattern.patterns]
            if any(case.bound for case in cases):
                raise Unknown
            self.tests.append(ast.BoolOp(ast.Or(), [case.test() for case in cases]))
        elif isinstance(pattern, ast.MatchSequence):
            self.add_sequence(pattern.patterns, subject)
        else:
            raise Unknown

    def add_sequence(self, patterns: list[ast.pattern], subject: ast.expr) -> None:
        stars = [i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)]
        count = ast.Constant(len(patterns) - len(stars))
        kinds = ast.Tuple([_load("tuple"), _load("list")], ast.Load())
        self.tests.append(_call("isinstance", subject, kinds))
        enough = ast.GtE() if stars else ast.Eq()
        self.tests.append(ast.Compare(_call("len", subject), [enough], [count]))
        after = 0 if not stars else len(patterns) - stars[0] - 1
        for i, pattern in enumerate(patterns):
            if not isinstance(pattern, ast.MatchStar):
                index = i if not stars or i < stars[0] else i - len(patterns)
                self.add(pattern, _item(subject, ast.Constant(index)))
            elif pattern.name is not None:
                end = ast.Constant(-after) if after else None
                rest = _item(subject, ast.Slice(ast.Constant(i), end))
                self.bound.append((pattern.name, _call("list", rest)))

    def test(self, guard: ast.expr | None = None) -> ast.expr:
        """Whether the case is taken."""
        tests = list(self.tests)
        if guard is not None:
            for name, value in self.bound:  # The guard may use them. This is always true.
                target = ast.NamedExpr(ast.Name(name, ast.Store()), value)
                never = ast.Compare(target, [ast.Is()], [ast.Constant(...)])
                tests.append(ast.BoolOp(ast.Or(), [never, ast.Constant(True)]))
            tests.append(guard)
        if not tests:
            return ast.Constant(True)
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)

    def bindings(self) -> list[ast.stmt]:
        return [ast.Assign([ast.Name(n, ast.Store())], value) for n, value in self.bound]


class WithoutMatch(ast.NodeTransformer):
    """Replaces each `match`; one with a pattern that kernels do not have stays, and is refused."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        subject = node.subject
        before: list[ast.stmt] = []
        if not _is_plain(subject):
            self.count += 1
            name = f"<match{self.count}>"
            before.append(ast.Assign([ast.Name(name, ast.Store())], subject))
            subject = _load(name)
        try:
            chain = self.chain(node.cases, subject)
        except Unknown:
            return node
        result = [*before, *chain]
        for statement in result:
            ast.copy_location(statement, node)
            ast.fix_missing_locations(statement)
        return copy.deepcopy(result)  # What is written several times are several nodes.

    def chain(self, cases: list[ast.match_case], subject: ast.expr) -> list[ast.stmt]:
        if not cases:
            return [ast.Pass()]
        first = cases[0]
        case = _Case(first.pattern, subject)
        bindings = [] if first.guard is not None else case.bindings()
        test = case.test(first.guard)
        branch = ast.If(test, [*bindings, *first.body], self.chain(cases[1:], subject))
        for new in (branch, *bindings):
            ast.copy_location(new, first.pattern)
        return [branch]


def without_match(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function without `match`."""
    return WithoutMatch().visit(node)
