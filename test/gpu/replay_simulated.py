"""Runs recorded simulator launches on a GPU and compares every array, bit for bit.

Usage: python test/gpu/replay_simulated.py launches.pkl.xz [differences.json]

The recording comes from test/python/sim/record.py; the GPU machine needs cuda-bindings and NumPy,
not tile. The table counts launches by what their PTX has in it that may differ in the last bits.
Below it come the tests, each with the largest relative difference of its first launch.
"""

from __future__ import annotations

import json
import lzma
import multiprocessing
import os
import pickle
import queue
import re
import struct
import sys
import threading
from collections import defaultdict

import numpy as np
from cuda.bindings import driver as cuda


def check(result, *rest):
    code = result[0] if isinstance(result, tuple) else result
    if code != cuda.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{code}")
    values = result[1:] if isinstance(result, tuple) else ()
    return values[0] if len(values) == 1 else values


def triple(v):
    v = (v,) if np.ndim(v) == 0 else tuple(v)
    return (*v, *(1,) * (3 - len(v)))


class Memory:
    """Device copies of host arrays; remembers how host addresses map."""

    def __init__(self):
        self.blocks = []

    def add(self, array, address):
        data = np.ascontiguousarray(array)
        # The same array given twice stays one.
        for known_address, size, pointer, _ in self.blocks:
            if known_address == address and size == data.nbytes:
                return pointer
        pointer = int(check(cuda.cuMemAlloc(max(data.nbytes, 16) + 256)))
        check(cuda.cuMemcpyHtoD(pointer, data.ctypes.data, data.nbytes)) if data.nbytes else None
        self.blocks.append((address, data.nbytes, pointer, data))
        return pointer

    def device(self, address):
        for known, size, pointer, _ in self.blocks:
            if known <= address < known + max(size, 1):
                return pointer + address - known
        return address

    def read(self, pointer, like):
        out = np.empty_like(np.ascontiguousarray(like))
        if out.nbytes:
            check(cuda.cuMemcpyDtoH(out.ctypes.data, pointer, out.nbytes))
        return out

    def free(self):
        for _, _, pointer, _ in self.blocks:
            cuda.cuMemFree(pointer)


def on_device(tensor_map, memory):
    """A tensor map with the device's address: the rest is as the driver encodes it."""
    address = int.from_bytes(tensor_map[:8], "little")
    return memory.device(address).to_bytes(8, "little") + tensor_map[8:]


def pack(launch, memory):
    """The parameter buffer, with device addresses."""
    params = launch["params"]
    buffer = bytearray(params[-1][2] + params[-1][3] if params else 0)
    keep = []
    for (_, kind, offset, size, _), value, address in zip(
        params, launch["before"], launch["address"], strict=True
    ):
        if isinstance(value, np.ndarray):
            struct.pack_into("<Q", buffer, offset, memory.add(value, address))
        elif isinstance(value, (bytes, bytearray)):
            keep.append((offset, value))
        elif value is None:
            pass
        elif isinstance(value, float) or kind.startswith("f"):
            struct.pack_into("<d" if size == 8 else "<f", buffer, offset, value)
        else:
            buffer[offset : offset + size] = (int(value) & ((1 << 8 * size) - 1)).to_bytes(
                size, "little"
            )
    for array, address in zip(launch["extra"], launch["extra_address"], strict=True):
        memory.add(array, address)
    for offset, value in keep:
        if len(value) == 128:
            value = on_device(value, memory)
        buffer[offset : offset + len(value)] = value
    return bytes(buffer)


def run(launch, modules):
    key = launch["ptx"]
    if key not in modules:
        modules[key] = check(cuda.cuModuleLoadData(key.encode() + b"\0"))
    function = check(cuda.cuModuleGetFunction(modules[key], launch["entry"].encode()))
    memory = Memory()
    try:
        buffer = np.frombuffer(pack(launch, memory) or bytes(8), np.uint8).copy()
        # One pointer for each parameter: the driver knows where the hardware wants them.
        pointers = np.array([buffer.ctypes.data + p[2] for p in launch["params"]] or [0], np.uint64)
        config = cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = triple(launch["grid"])
        config.blockDimX, config.blockDimY, config.blockDimZ = triple(launch["block"])
        config.sharedMemBytes = launch["dynamic_shared"]
        cluster = triple(launch["cluster"])
        if cluster != (1, 1, 1):
            attribute = cuda.CUlaunchAttribute()
            attribute.id = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            (
                attribute.value.clusterDim.x,
                attribute.value.clusterDim.y,
                attribute.value.clusterDim.z,
            ) = cluster
            config.attrs, config.numAttrs = [attribute], 1
        # Static shared memory counts, too.
        if config.sharedMemBytes > 32 * 1024:
            limit = cuda.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            check(cuda.cuFuncSetAttribute(function, limit, config.sharedMemBytes))
        check(cuda.cuLaunchKernelEx(config, function, int(pointers.ctypes.data), 0))
        check(cuda.cuCtxSynchronize())
        pairs = []
        for value, after, address in zip(
            launch["before"], launch["after"], launch["address"], strict=True
        ):
            if isinstance(value, np.ndarray):
                pairs.append((after, memory.read(memory.device(address), value)))
        for after, address in zip(launch["extra_after"], launch["extra_address"], strict=True):
            pairs.append((after, memory.read(memory.device(address), after)))
        return pairs
    finally:
        memory.free()


def compare(simulated, real):
    """Differing elements and the largest relative difference among them (as the array's type)."""
    a, b = np.ascontiguousarray(simulated), real
    bits = np.dtype(f"u{a.dtype.itemsize}")
    differ = a.view(bits) != b.view(bits)
    if not differ.any():
        return 0, 0.0, ""
    first = int(np.flatnonzero(differ.ravel())[0])
    x, y = a.ravel()[differ.ravel()], b.ravel()[differ.ravel()]
    if a.dtype == np.uint32:  # mostly floats as bits
        x, y = x.view(np.float32), y.view(np.float32)
    with np.errstate(all="ignore"):
        x, y = x.astype(np.float64), y.astype(np.float64)
        gaps = np.abs(x - y) / np.maximum(np.maximum(np.abs(x), np.abs(y)), 1e-30)
        gap = np.nanmax(gaps, initial=0.0)
    return (
        int(differ.sum()),
        float(gap),
        f"element {first}: simulated {a.ravel()[first]!r}, real {b.ravel()[first]!r}",
    )


#: Seconds without news after which a child is taken to hang.
PATIENCE = 15
#: Launches of a child; one that breaks the context or the driver ends its child alone.
BATCH = 40
#: Children at a time: most of their time goes into the driver's compiler.
CHILDREN = min(24, os.cpu_count() or 1)

#: Errors after which a context is of no more use.
LOST = ("ILLEGAL", "LAUNCH_FAILED", "MISALIGNED", "ASSERT", "TIMEOUT", "HARDWARE")


def outcome(launch, modules):
    """None where all arrays are equal; else how they differ, or the error."""
    try:
        bad = [r for r in (compare(a, b) for a, b in run(launch, modules)) if r[0]]
    except RuntimeError as error:
        return {"error": str(error)}
    if not bad:
        return None
    return {"elements": bad[0][0], "relative": bad[0][1], "first": bad[0][2]}


def child(launches, first, last, sender):
    """Runs launches and sends what came of each."""
    check(cuda.cuInit(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(check(cuda.cuDeviceGet(0))))))
    modules = {}
    for index in range(first, last):
        result = outcome(launches[index], modules)
        sender.send((index, result))
        if result and any(word in result.get("error", "") for word in LOST):
            break
    sender.close()


def replay(launches, found):
    """A thread's work: children for batches, until there is none left."""
    fork = multiprocessing.get_context("fork")
    while True:
        try:
            first, last = found["batches"].get_nowait()
        except queue.Empty:
            return
        while first < last:
            receiver, sender = fork.Pipe(duplex=False)
            process = fork.Process(target=child, args=(launches, first, last, sender))
            process.start()
            sender.close()
            ended = "crashed"
            try:
                while first < last:
                    if not receiver.poll(PATIENCE):
                        ended = f"no end after {PATIENCE} seconds"
                        break
                    index, result = receiver.recv()
                    found["results"][index] = result
                    first, ended = index + 1, ""
                    ended = "crashed" if not result or "error" not in result else ""
            except EOFError:
                pass
            process.kill()
            process.join()
            if first < last and ended:
                found["results"][first] = {"error": ended}
                first += 1


#: What makes a difference in the last bits likely, in this order.
CAUSES = {
    "approximate functions": r"\.approx|\b(ex2|lg2|sin|cos|tanh|rcp|rsqrt)\.",
    "sums of matrix instructions": r"\b(mma|wgmma|wmma)\.",
    "clocks and places": r"%(clock|globaltimer|smid|nsmid|gridid|pm)",
    "the order of atomics": r"\b(atom|red)\.",
}


def cause(launch):
    for name, pattern in CAUSES.items():
        if re.search(pattern, launch["ptx"]):
            return name
    return "others"


def main() -> int:
    with lzma.open(sys.argv[1], "rb") as file:
        launches = pickle.load(file)
    found = {"batches": queue.Queue(), "results": {}}
    for first in range(0, len(launches), BATCH):
        found["batches"].put((first, min(first + BATCH, len(launches))))
    threads = [threading.Thread(target=replay, args=(launches, found)) for _ in range(CHILDREN)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = found["results"]
    table = defaultdict(lambda: [0, 0, 0])
    differing = []
    for index, launch in enumerate(launches):
        result = results[index]
        row = table[cause(launch)]
        row[0 if result is None else 2 if "error" in result else 1] += 1
        if result:
            differing.append({"index": index, "test": launch["test"], **result})
    equal = sum(result is None for result in results.values())
    print(f"{len(launches)} launches, {equal} equal bit for bit")
    for name, (same, different, failed) in table.items():
        print(f"  {name}: {same} equal, {different} differ, {failed} did not run")
    tests = defaultdict(list)
    for entry in differing:
        tests[entry["test"].split("/")[-1]].append(entry)
    for test, entries in tests.items():
        one = entries[0]
        text = one.get("error") or f"{one['elements']} by {one['relative']:.1e}, {one['first']}"
        print(f"{test}: {len(entries)}, {text}")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w") as file:
            json.dump(differing, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
