"""The order of a graph's nodes: each one before those that it points to."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
from typing import TypeVar

T = TypeVar("T")


def stable_toposort(graph: Mapping[T, Collection[T]]) -> list[T]:
    """The nodes in an order that depends on nothing but the order of the graph. The nodes of a
    cycle stay together, as they come in the graph."""
    graph = dict(graph)
    for child in [c for children in list(graph.values()) for c in children]:
        graph.setdefault(child, ())  # Nodes that point nowhere need not be keys.
    components = _components(graph)
    members: dict[int, list[T]] = {}
    for node in graph:
        members.setdefault(components[node], []).append(node)
    waiting = dict.fromkeys(members, 0)
    edges: dict[int, dict[int, None]] = {component: {} for component in members}
    for node in graph:
        for child in graph[node]:
            if components[child] != components[node]:
                edges[components[node]].setdefault(components[child])
    for children in edges.values():
        for child in children:
            waiting[child] += 1
    ready = deque(component for component in members if not waiting[component])
    order: list[T] = []
    while ready:
        component = ready.popleft()
        order += members[component]
        for child in edges[component]:
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return order


def _components(graph: Mapping[T, Collection[T]]) -> dict[T, int]:
    """A number for each node; nodes on a common cycle have the same."""
    finished: list[T] = []
    seen: set[T] = set()
    for root in graph:
        stack = [(root, iter(graph[root]))] if root not in seen else []
        seen.add(root)
        while stack:
            node, children = stack[-1]
            child = next((c for c in children if c not in seen), None)
            if child is None:
                finished.append(node)
                stack.pop()
            else:
                seen.add(child)
                stack.append((child, iter(graph[child])))
    parents: dict[T, list[T]] = {node: [] for node in graph}
    for node in graph:
        for child in graph[node]:
            parents[child].append(node)
    numbers: dict[T, int] = {}
    for root in reversed(finished):
        pending = [root] if root not in numbers else []
        while pending:
            node = pending.pop()
            if node not in numbers:
                numbers[node] = finished.index(root)
                pending += [p for p in parents[node] if p not in numbers]
    return numbers
