"""The native part of the profiler by Triton's names, on tile's sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tile.profiler as proton
from tile.compat.triton._C.libproton import proton as libproton
from tile.profiler.profile import _select_backend


@pytest.fixture(autouse=True)
def _no_session_is_left() -> Iterator[None]:
    yield
    proton.finalize()


@pytest.mark.parametrize("context", ["shadow", "python"])
def test_a_session(context: str, tmp_path: Path) -> None:
    session = libproton.start(str(tmp_path / "p"), context, "tree", _select_backend())
    outer, inner = libproton.record_scope(), libproton.record_scope()
    assert outer != inner
    libproton.enter_scope(outer, "outer")
    libproton.enter_scope(inner, "inner")
    assert libproton.get_context_depth(session) >= 2
    libproton.add_metrics(inner, {"a": 1.0, "v": [1, 2]})
    libproton.add_metrics(inner, {"a": 2.0})
    libproton.exit_scope(inner, "inner")
    libproton.enter_op(libproton.record_scope(), "op")
    libproton.exit_op(0, "op")
    libproton.deactivate(session, False)
    libproton.activate(session)
    libproton.exit_scope(outer, "outer")
    assert libproton.get_data(session)[0]["frame"]["name"] == "ROOT"
    libproton.finalize_all("hatchet")
    node = json.loads((tmp_path / "p.hatchet").read_text())[0]
    while node["frame"]["name"] != "inner":
        (node,) = node["children"]
    assert node["metrics"] == {"a": 3.0, "v": [1, 2]}


def test_states_without_a_session() -> None:
    libproton.enter_state("zero")
    libproton.exit_state()
    libproton.exit_scope(12345, "nobody entered it")


def test_profilers() -> None:
    assert libproton.select_profiler_from_triton_backend("cuda") == "cupti"
    assert libproton.select_profiler_from_triton_backend("hip") == "rocprofiler"
    with pytest.raises(ValueError, match="No profiler registered for triton backend toy"):
        libproton.select_profiler_from_triton_backend("toy")
    assert {"cupti", "instrumentation"} <= set(libproton.get_available_profilers())
    metric = libproton.TensorMetric(5, libproton.metric_type_double_index)
    assert (metric.ptr, metric.index) == (5, libproton.metric_type_double_index)
