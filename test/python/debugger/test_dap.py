"""Sessions of an editor: each request, on all kinds of targets."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path

import kernels
import numpy as np
import pytest
from client import Client
from reference import sim_only

pytestmark = [sim_only, pytest.mark.nvidia("asks for targets itself")]

HERE = Path(__file__).parent
PTX = HERE.parents[1] / "unit/Simulator/ptx"
START = f"""
import sys
sys.path.insert(0, {str(HERE)!r})
import kernels
import numpy as np
"""
ROWS = (
    START
    + """
x = np.arange(30, dtype=np.float32).reshape(3, 10)
out = np.zeros_like(x)
print("before the launch")
kernels.rows[(3,)](x, out, 10, 10, BLOCK=16, num_warps=1)
print("sum of column 9:", out[:, 9].sum())
"""
)
RACE = START + "kernels.neighbours[(8,)](np.arange(9, dtype=np.int32))\n"
TARGETS = ["cuda:90", "hip:gfx942", "hip:gfx1100"]


@pytest.fixture
def program(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(text)
        return str(path)

    return write


def at(comment: str, **more) -> dict:
    return {"line": kernels.line_of(comment), **more}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("over_socket", [False, True])
def test_a_session(program, target, over_socket):
    with Client(over_socket) as client:
        breakpoints = {kernels.FILE: [at("sum", condition="program 1 if i == 1")]}
        capabilities = client.start(program(ROWS), breakpoints, target=target)
        assert capabilities["supportsStepBack"] and capabilities["supportsDataBreakpoints"]
        body = client.stopped("breakpoint")
        assert body["allThreadsStopped"] and len(body["hitBreakpointIds"]) == 1
        assert client.output == "before the launch\n"

        # Threads, functions, variables.
        threads = client.ask("threads")["threads"]
        assert threads[0]["name"].startswith("program (1, 0, 0), warp 0")
        frame = client.top()
        assert frame["name"] == "rows" and frame["source"]["path"] == kernels.FILE
        assert frame["line"] == kernels.line_of("sum")
        seen = client.variables()
        assert seen["i"]["value"] == "1" and seen["row"]["value"] == "1"
        assert seen["BLOCK"]["value"] == "16" and seen["x_ptr"]["value"] == "&x_ptr[0, 0]"
        x = seen["x"]
        assert x["type"] == "fp32[16]" and x["indexedVariables"] == 16
        items = client.ask("variables", variablesReference=x["variablesReference"])["variables"]
        assert [float(v["value"]) for v in items] == [*range(10, 20), *[0] * 6]
        some = client.ask(
            "variables", variablesReference=x["variablesReference"], start=3, count=2
        )["variables"]
        assert [(v["name"], v["value"]) for v in some] == [("[3]", "13.0"), ("[4]", "14.0")]
        mask = seen["x (mask of its load)"]["variablesReference"]
        items = client.ask("variables", variablesReference=mask)["variables"]
        assert [v["value"] for v in items] == ["True"] * 10 + ["False"] * 6

        # Arguments and their memory.
        arguments = client.variables("Arguments")
        assert arguments["n"]["value"] == "10"
        raw = client.ask(
            "readMemory", memoryReference=arguments["x_ptr"]["memoryReference"], offset=8, count=8
        )
        assert np.frombuffer(base64.b64decode(raw["data"]), np.float32).tolist() == [2, 3]
        assert client.variables("Registers") and client.variables("Barriers and waits")

        # Expressions.
        frame = client.top()["id"]
        shown = client.ask("evaluate", expression="y[2] + i", frameId=frame, context="hover")
        assert shown["result"] == "14.0"
        shown = client.ask("evaluate", expression="x > 12", frameId=frame, context="watch")
        assert shown["variablesReference"] and shown["type"] == "bool[16]"
        shown = client.ask("evaluate", expression="where x[3]", frameId=frame, context="repl")
        assert "thread" in shown["result"] and "lane 3" in shown["result"]
        assert "no variable" in client.refused("evaluate", expression="nothing", frameId=frame)

        # Steps, forwards and backwards.
        client.ask("setBreakpoints", source={"path": kernels.FILE}, breakpoints=[])
        client.go("stepBack", "step")
        assert client.top()["line"] == kernels.line_of("call")
        client.go("stepIn", "step")
        assert [f["name"] for f in client.stack(client.thread)["stackFrames"]] == ["scaled", "rows"]
        client.go("stepOut", "step")
        assert client.top()["line"] == kernels.line_of("sum")
        client.go("next", "step")
        client.go("next", "step", granularity="instruction")
        client.go("reverseContinue", "entry")

        # Memory that changes.
        info = client.ask("dataBreakpointInfo", name="out_ptr[1, 2]")
        assert info["dataId"] == "out_ptr[1, 2]" and info["accessTypes"] == ["write"]
        assert client.ask("dataBreakpointInfo", name="nothing")["dataId"] is None
        shown = client.ask("setDataBreakpoints", breakpoints=[{"dataId": "out_ptr[1, 2]"}])
        assert shown["breakpoints"][0]["verified"]
        body = client.go("continue", "data breakpoint")
        assert "0.0 -> 39.0" in body["description"]
        assert client.top()["line"] == kernels.line_of("store")
        client.go("reverseContinue", "entry")
        client.ask("setDataBreakpoints", breakpoints=[])

        # Places; what is not there.
        locations = client.ask(
            "breakpointLocations", source={"path": kernels.FILE}, line=1, endLine=1000
        )
        assert at("sum") in locations["breakpoints"]
        assert "not supported" in client.refused("gotoTargets", source={}, line=1)
        assert "not there any more" in client.refused("variables", variablesReference=9999)
        assert "not there any more" in client.refused("scopes", frameId=9999)

        client.ask("continue", threadId=client.thread)
        assert client.event("exited")["exitCode"] == 0
        client.event("terminated")
        client.ask("disconnect")
        assert client.output == "before the launch\nsum of column 9: 180.0\n"
        assert client.process.wait(60) == 0


@pytest.mark.parametrize("target", TARGETS)
def test_findings_are_exceptions(program, target):
    with Client() as client:
        client.start(program(RACE), {}, target=target)
        body = client.stopped("exception")
        assert "race" in body["text"]
        info = client.ask("exceptionInfo", threadId=client.thread)
        assert info["exceptionId"] == "race" and "kernels.py" in info["description"]
        client.go("stepBack", "step")
        client.ask("continue", threadId=client.thread)
        client.stopped("exception")
        client.ask("continue", threadId=client.thread)
        assert client.event("exited")["exitCode"] == 1
        assert "SimulationError" in client.output


def test_hits_are_counted(program):
    with Client() as client:
        client.start(program(ROWS), {kernels.FILE: [at("sum", hitCondition="2")]})
        client.stopped("breakpoint")
        assert client.variables()["i"]["value"] == "1"
        client.ask("terminate")
        client.event("terminated")


def test_a_launch_that_runs_answers_and_pauses(program):
    """While a kernel runs: breakpoints are set, threads asked for, and it is paused."""
    text = START + (
        "x = np.zeros((2000, 10), np.float32)\nout = np.zeros_like(x)\n"
        "print('ready')\n"
        "kernels.rows[(2000,)](x, out, 10, 10, BLOCK=256, num_warps=8)\n"
    )
    with Client() as client:
        client.start(program(text), {})
        while "ready" not in client.output:
            client._next()
        time.sleep(1)
        assert client.ask("threads")["threads"]
        client.ask("pause", threadId=1)
        client.stopped("pause")
        first = client.stack(client.thread)["stackFrames"]
        assert first
        client.ask("continue", threadId=client.thread)
        breakpoints = [at("sum", condition="program 1999 if i == 2")]
        client.ask("setBreakpoints", source={"path": kernels.FILE}, breakpoints=breakpoints)
        client.stopped("breakpoint")
        assert client.variables()["row"]["value"] == "1999"
        client.ask("disconnect")
        assert client.process.wait(60) == 0


def test_stops_on_entry_and_ends_with_the_editor(program):
    with Client() as client:
        client.start(program(ROWS), {}, stopOnEntry=True)
        client.stopped("entry")
        client.process.stdin.close()
        assert client.process.wait(60) == 0


def test_a_program_that_is_not_there(tmp_path):
    with Client() as client:
        client.start(str(tmp_path / "nothing.py"), {})
        assert client.event("exited")["exitCode"] == 1
        assert "there is no program" in client.output


def test_a_file_of_ptx():
    source = str(PTX / "basics.cu")
    line = next(
        i
        for i, text in enumerate(Path(source).read_text().splitlines(), 1)
        if "out[i] = x[i] + y[i]" in text
    )
    arguments = [
        "--entry", "vector_add", "--grid", "4", "--block", "32",
        "--array", "x=random:f32:100", "--array", "out=zeros:f32:100",
        "--arg", "x", "--arg", "x", "--arg", "out", "--arg", "100",
    ]  # fmt: skip
    with Client() as client:
        client.start(
            str(PTX / "basics.ptx"),
            {"basics.cu": [{"line": line, "condition": "program 2"}]},
            args=arguments,
        )
        client.stopped("breakpoint")
        assert client.top()["line"] == line
        assert client.ask("threads")["threads"][0]["name"].startswith("program (2, 0, 0)")
        registers = client.variables("Registers")
        assert "%r1" in registers
        assert client.variables() == {}
        client.go("next", "step")
        client.go("stepBack", "breakpoint")
        client.go("stepBack", "step", granularity="instruction")
        client.ask("disconnect")


def test_garbage_ends_the_server():
    with Client() as client:
        client.process.stdin.write(b"Content-Length: x\r\n\r\n")
        client.process.stdin.close()
        assert client.process.wait(60) == 0
        assert b"a length is a number" in client.process.stderr.read()


def test_settings_of_the_launch(program, tmp_path):
    text = START + "import os\nprint(os.environ['FLAVOUR'], os.getcwd(), sys.argv[1:])\n"
    with Client(env={**os.environ, "FLAVOUR": "no"}) as client:
        client.start(
            program(text), {}, env={"FLAVOUR": "sweet"}, cwd=str(tmp_path), args=["a", "b c"]
        )
        client.event("exited")
        assert client.output == f"sweet {tmp_path} ['a', 'b c']\n"
