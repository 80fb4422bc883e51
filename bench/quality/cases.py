"""What is compiled and executed: examples, their argument types and their inputs.

Shared by the process that measures and the one that runs Triton's compiler, so it imports
neither compiler.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: Types of the matrix products: operands and result as compilers name them.
MATMUL_TYPES = {
    "fp16": ("fp16", "fp16"),
    "bf16": ("bf16", "bf16"),
    "tf32": ("fp32", "fp32"),
    "int8": ("i8", "i32"),
    "fp8": ("fp8e4nv", "fp16"),
}
TILES = [(64, 64), (64, 128), (128, 64), (128, 128), (64, 256), (128, 256)]


@dataclass(frozen=True)
class Case:
    """One kernel with its constants and options."""

    name: str
    example: str
    kernel: str
    #: Types of the parameters that are passed, in order of the parameters.
    types: dict[str, str]
    constants: dict[str, Any]
    options: dict[str, int]
    grid: tuple[int, ...]
    shape: dict[str, Any] = field(default_factory=dict)

    def signature(self, parameters: list[str]) -> dict[str, str]:
        return {name: self.types.get(name, "constexpr") for name in parameters}

    def attributes(self, parameters: list[str], kind: str = "cuda") -> dict[tuple[int], list]:
        """What a launch would find: pointers and integers are multiples of 16, and, for AMD GPUs
        (`kind` "hip"), what pointers point to has less than 2 GiB."""
        attributes = {
            (i,): [["tt.divisibility", 16]]
            for i, name in enumerate(parameters)
            if (kind_of := self.types.get(name, "fp32")) not in ("fp32", "constexpr")
            and not kind_of.startswith("tensordesc<")
        }
        if kind == "hip":
            for i, name in enumerate(parameters):
                if self.types.get(name, "").startswith("*"):
                    attributes[(i,)].append(["tt.pointer_range", 32])
        return attributes

    def hints(self, parameters: list[str], kind: str = "cuda") -> dict[tuple[int], list]:
        """The same, and what else tile's launches look at: no integer is negative or large."""
        hints = self.attributes(parameters, kind)
        for i, name in enumerate(parameters):
            if self.types.get(name) == "i32":
                hints[(i,)] = [*hints[(i,)], ["tt.non_negative", 1], ["tt.max", 2**30 - 1]]
        return hints

    def numpy(self) -> tuple[list[Any], int, np.ndarray, float]:
        """Arguments, which of them is the output, the right output, the tolerated error."""
        return globals()[f"_{self.example}_data"](self)


def _array(values: np.ndarray, kind: str) -> np.ndarray:
    if kind == "bf16":
        import ml_dtypes

        return values.astype(ml_dtypes.bfloat16)
    if kind == "fp8e4nv":
        import ml_dtypes

        return values.astype(ml_dtypes.float8_e4m3fn)
    return values.astype({"fp16": np.float16, "fp32": np.float32, "i8": np.int8}[kind])


def _output(shape: tuple[int, ...], kind: str) -> np.ndarray:
    if kind == "i32":
        return np.full(shape, -1, np.int32)
    return _array(np.full(shape, np.nan), kind)


def _vector_add_data(case: Case):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, case.shape["n"])).astype(np.float32)
    return [x, y, np.full_like(x, np.nan), x.size], 2, x + y, 1e-6


def _softmax_data(case: Case):
    rows, cols = case.shape["rows"], case.shape["cols"]
    x = np.random.default_rng(1).standard_normal((rows, cols)).astype(np.float16)
    e = np.exp(x.astype(np.float64))
    out = _output(x.shape, "fp16")
    return [out, x, cols, cols, cols], 0, e / e.sum(axis=1, keepdims=True), 1e-3


def _layernorm_data(case: Case):
    rows, cols = case.shape["rows"], case.shape["cols"]
    rng = np.random.default_rng(2)
    x = rng.standard_normal((rows, cols)).astype(np.float16)
    weight, bias = rng.standard_normal((2, cols)).astype(np.float16)
    centred = x - x.astype(np.float64).mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    expected = expected * weight + bias
    return [_output(x.shape, "fp16"), x, weight, bias, cols, cols, 1e-5], 0, expected, 1e-3


def _matmul_data(case: Case):
    m, n, k = (case.shape[x] for x in "mnk")
    kind, out_kind = case.shape["types"]
    rng = np.random.default_rng(3)
    if kind == "i8":
        a, b = rng.integers(-100, 100, (m, k)), rng.integers(-100, 100, (k, n))
    else:
        a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    a, b = _array(a, kind), _array(b, kind)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    tolerated = {"i32": 0.0, "fp32": 1e-3, "fp16": 1e-3, "bf16": 5e-3}[out_kind]
    stride_b = n
    if case.shape["turned"]:
        b, stride_b = np.ascontiguousarray(b.T), k
    return [a, b, _output((m, n), out_kind), m, n, k, k, stride_b, n], 2, expected, tolerated


def _attention_data(case: Case):
    heads, length, size = (case.shape[x] for x in ("heads", "length", "size"))
    q, k, v = np.random.default_rng(4).standard_normal((3, heads, length, size)).astype(np.float16)
    scale = size**-0.5
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * scale
    if case.constants["CAUSAL"]:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = weights / weights.sum(axis=2, keepdims=True) @ v.astype(np.float64)
    return [q, k, v, _output(q.shape, "fp16"), scale, length], 3, expected, 2e-3


def _attention_backward_data(case: Case):
    heads, length, size = (case.shape[x] for x in ("heads", "length", "size"))
    rng = np.random.default_rng(5)
    q, k, v, dout = rng.standard_normal((4, heads, length, size)).astype(np.float16)
    wide = [x.astype(np.float64) for x in (q, k, v, dout)]
    scale = size**-0.5
    scores = wide[0] @ wide[1].transpose(0, 2, 1) * scale
    if case.constants["CAUSAL"]:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    sums = np.log(np.exp(scores).sum(axis=2, keepdims=True))
    weights = np.exp(scores - sums)
    deltas = ((weights @ wide[2]) * wide[3]).sum(axis=2, keepdims=True)
    dscores = weights * (wide[3] @ wide[2].transpose(0, 2, 1) - deltas) * scale
    rows = [(sums / np.log(2)).astype(np.float32), deltas.astype(np.float32)]
    outputs = [_output(q.shape, "fp16")]
    expected = dscores @ wide[1]
    if case.kernel == "keys_values_kernel":
        outputs.append(_output(q.shape, "fp16"))
        expected = dscores.transpose(0, 2, 1) @ wide[0]
    return [q, k, v, dout, *outputs, *rows, scale, length], 4, expected, 2e-3


def _corpus_data(case: Case):
    return _CORPUS_DATA[case.kernel](np.random.default_rng(5), case)


def _argmax_data(rng, case: Case):
    rows, cols = case.constants["R"], case.constants["C"]
    x = rng.permutation(rows * cols).reshape(rows, cols).astype(np.float32)
    index, value = np.full(rows, -1, np.int32), np.full(rows, np.nan, np.float32)
    return [x, index, value, cols], 1, x.argmax(1), 0.0


def _desc_copy_data(rng, case: Case):
    x = rng.standard_normal((100, 128)).astype(np.float16)
    return [x, _output(x.shape, "fp16"), *x.shape], 1, x.astype(np.float64) + 1, 1e-3


def _gather_join_data(rng, case: Case):
    rows, cols = case.constants["M"], case.constants["N"]
    x = rng.standard_normal((rows, cols)).astype(np.float32)
    index = rng.integers(0, cols, (rows, cols)).astype(np.int32)
    pairs = np.take_along_axis(x, index, 1).reshape(rows, cols // 2, 2) * [2, 1]
    expected = pairs.transpose(0, 2, 1).reshape(rows, cols)
    return [x, index, np.full_like(x, np.nan)], 2, expected, 0.0


def _gemm_data(rng, case: Case):
    bm, bn, k = case.constants["BM"], case.constants["BN"], 256
    kind = case.types["a_ptr"][1:]
    a, b = (_array(rng.standard_normal(s), kind) for s in ((bm, k), (k, bn)))
    expected = a.astype(np.float64) @ b.astype(np.float64)
    return [a, b, _output((bm, bn), "fp16"), bm, bn, k, k, bn, bn], 2, expected, 1e-3


def _gemm_chain_data(rng, case: Case):
    size, k = case.constants["B"], 256
    shapes = (size, k), (k, size), (size, size)
    a, b, w = (_array(rng.standard_normal(s), "bf16") for s in shapes)
    hidden = np.maximum(a.astype(np.float64) @ b.astype(np.float64), 0)
    expected = hidden @ w.astype(np.float64)
    return [a, b, w, np.full((size, size), np.nan, np.float32), k], 3, expected, 5e-3


def _scan_hist_data(rng, case: Case):
    size, bins = case.constants["N"], case.constants["BINS"]
    x = rng.integers(0, 1000, size - 12).astype(np.int32)
    counts = np.full(bins, -1, np.int32)
    padded = np.concatenate([x, np.zeros(12, np.int32)])
    sums = np.full(size, -1, np.int32)
    return [x, sums, counts, x.size], 1, padded.cumsum(), 0.0


def _row_softmax_data(rng, case: Case):
    rows, cols = 4, 2000
    x = rng.standard_normal((rows, cols)).astype(np.float32)
    e = np.exp(x.astype(np.float64))
    return [x, np.full_like(x, np.nan), cols, cols], 1, e / e.sum(1, keepdims=True), 1e-5


def _transpose_data(rng, case: Case):
    x = rng.standard_normal((64, 48)).astype(np.float32)
    return [x, np.full(x.T.shape, np.nan, np.float32), *x.shape], 1, x.T, 0.0


_CORPUS_DATA = {
    "argmax_rows": _argmax_data, "desc_copy": _desc_copy_data, "gather_join": _gather_join_data,
    "gemm": _gemm_data, "gemm_bias_relu_chain": _gemm_chain_data, "scan_hist": _scan_hist_data,
    "row_softmax": _row_softmax_data, "transpose2d": _transpose_data,
}  # fmt: skip


def _corpus() -> list[Case]:
    """Programs of the IR corpus, as it has them."""

    def case(name: str, types: str, constants: dict[str, int], grid: tuple[int, ...] = (1,)):
        pairs = dict(pair.split(":") for pair in types.split())
        label = f"corpus {name}" + (" fp32" if pairs.get("a_ptr") == "*fp32" else "")
        return Case(label, "corpus", name, pairs, constants, {"num_warps": 4}, grid)

    strides = "M:i32 N:i32 K:i32 sa:i32 sb:i32 sc:i32"
    tile, small = {"BM": 128, "BN": 128, "BK": 32}, {"BM": 64, "BN": 64, "BK": 32}
    return [
        case("argmax_rows", "x_ptr:*fp32 o_ptr:*i32 v_ptr:*fp32 N:i32", {"R": 32, "C": 128}),
        case("desc_copy", "in_ptr:*fp16 o_ptr:*fp16 M:i32 N:i32", {"BM": 64, "BN": 64}, (2, 2)),
        case("gather_join", "x_ptr:*fp32 i_ptr:*i32 o_ptr:*fp32", {"M": 32, "N": 64}),
        case("gemm", f"a_ptr:*fp16 b_ptr:*fp16 c_ptr:*fp16 {strides}", tile),
        case("gemm", f"a_ptr:*fp32 b_ptr:*fp32 c_ptr:*fp16 {strides}", small),
        case(
            "gemm_bias_relu_chain",
            "a_ptr:*bf16 b_ptr:*bf16 w_ptr:*bf16 c_ptr:*fp32 K:i32",
            {"B": 64},
        ),
        case("scan_hist", "x_ptr:*i32 o_ptr:*i32 h_ptr:*i32 n:i32", {"N": 512, "BINS": 64}),
        case("row_softmax", "x_ptr:*fp32 o_ptr:*fp32 stride:i32 n:i32", {"BLOCK": 2048}, (4,)),
        case("transpose2d", "x_ptr:*fp32 o_ptr:*fp32 M:i32 N:i32", {"B": 64}),
    ]


def _add(block: int, warps: int) -> Case:
    types = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}
    n = 4 * block - 16
    return Case(
        f"add fp32 {block}, {warps} warps", "vector_add", "add_kernel", types, {"BLOCK": block},
        {"num_warps": warps}, (4,), {"n": n},
    )  # fmt: skip


def _rowwise(example: str, cols: int, warps: int) -> Case:
    pointers = ["out_ptr", "in_ptr"]
    if example == "layernorm":
        pointers += ["weight_ptr", "bias_ptr"]
        numbers = {"stride": "i32", "n_cols": "i32", "eps": "fp32"}
    else:
        numbers = dict.fromkeys(("in_stride", "out_stride", "n_cols"), "i32")
    block = 1 << (cols - 1).bit_length()
    return Case(
        f"{example} fp16 {cols}, {warps} warps", example, f"{example}_kernel",
        {**dict.fromkeys(pointers, "*fp16"), **numbers}, {"BLOCK": block},
        {"num_warps": warps}, (4,), {"rows": 4, "cols": cols},
    )  # fmt: skip


def _matmul(
    kind: str, bm: int, bn: int, bk: int, warps: int, stages: int, k: int = 512,
    turned: bool = False,
) -> Case:  # fmt: skip
    """`turned`: whether the elements of B that follow one another in memory are of one column."""
    types = MATMUL_TYPES[kind]
    operand, result = (f"*{t}" for t in types)
    stride_b, one = ("stride_bn", "stride_bk") if turned else ("stride_bk", "stride_bn")
    numbers = ("M", "N", "K", "stride_am", stride_b, "stride_cm")
    return Case(
        f"matmul {kind}{' B along K' if turned else ''} {bm}x{bn}x{bk}, {warps} warps, "
        f"{stages} stages",
        "matmul", "matmul_kernel",
        {"a_ptr": operand, "b_ptr": operand, "c_ptr": result, **dict.fromkeys(numbers, "i32")},
        {"BM": bm, "BN": bn, "BK": bk, "GROUP_M": 8, "stride_ak": 1, one: 1, "stride_cn": 1},
        {"num_warps": warps, "num_stages": stages}, (1,),
        {"m": bm, "n": bn, "k": k, "types": types, "turned": turned},
    )  # fmt: skip


def _attention(size: int, causal: bool, bm: int, bn: int, warps: int, stages: int) -> Case:
    types = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), "*fp16")
    length = 512
    return Case(
        f"attention fp16 D{size}{' causal' if causal else ''} {bm}x{bn}, {warps} warps, "
        f"{stages} stages",
        "attention", "attention_kernel", {**types, "scale": "fp32", "L": "i32"},
        {"D": size, "BM": bm, "BN": bn, "CAUSAL": causal, "EVEN": True, "SPECIALIZED": False},
        {"num_warps": warps, "num_stages": stages}, (length // bm, 1),
        {"heads": 1, "length": length, "size": size},
    )  # fmt: skip


def _attention_backward(kernel: str, size: int, bm: int, bn: int, warps: int, stages: int) -> Case:
    outputs = ("dk_ptr", "dv_ptr") if kernel == "keys_values" else ("dq_ptr",)
    types = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "dout_ptr", *outputs), "*fp16")
    length = 256
    return Case(
        f"attention {'dk, dv' if kernel == 'keys_values' else 'dq'} fp16 D{size} {bm}x{bn}, "
        f"{warps} warps, {stages} stages",
        "attention_backward", f"{kernel}_kernel",
        {**types, "sums_ptr": "*fp32", "deltas_ptr": "*fp32", "scale": "fp32", "L": "i32"},
        {"D": size, "BM": bm, "BN": bn, "CAUSAL": False, "SPECIALIZED": False},
        {"num_warps": warps, "num_stages": stages},
        (length // (bn if kernel == "keys_values" else bm), 1),
        {"heads": 1, "length": length, "size": size},
    )  # fmt: skip


def _descriptors(rows: dict[str, int], columns: int, kind: str = "fp16") -> dict[str, str]:
    return {name: f"tensordesc<{kind}[{n}, {columns}]>" for name, n in rows.items()}


def _product_by_descriptors(name: str, persistent: bool, specialize: bool) -> Case:
    bm, bn, bk = 128, 256, 64
    types = {
        **_descriptors({"a": bm}, bk), **_descriptors({"b": bk, "c": bm}, bn),
        **dict.fromkeys("MNK", "i32"),
    }  # fmt: skip
    constants = {"BM": bm, "BN": bn, "BK": bk, "GROUP_M": 8}
    return Case(
        name, "descriptor_matmul", "from_host", types,
        {**constants, "PERSISTENT": persistent, "SPECIALIZE": specialize, "PARTS": 1},
        {"num_warps": 8, "num_stages": 3}, (1,),
    )  # fmt: skip


def _attention_by_descriptors(
    size: int, causal: bool, bm: int = 128, bn: int = 128, warps: int = 8, stages: int | None = None
) -> Case:
    """By default there are as many stages as fit, and the name does not say them."""
    types = {
        **_descriptors({"q_desc": bm, "k_desc": bn, "v_desc": bn, "out_desc": bm}, size),
        "scale": "fp32", "L": "i32", "tiles": "i32",
    }  # fmt: skip
    name = f"attention by descriptors, specialised, D{size}{' causal' if causal else ''} {bm}x{bn}"
    if stages is not None:
        name += f", {warps} warps, {stages} stages"
    return Case(
        name, "attention", "by_descriptors_kernel", types,
        {"D": size, "BM": bm, "BN": bn, "CAUSAL": causal, "SPECIALIZED": True},
        {"num_warps": warps, "num_stages": stages or (3 if size == 64 else 2)}, (1,),
    )  # fmt: skip


def _gradients(size: int, causal: bool, bm: int, bn: int, warps: int) -> Case:
    """Gradients in one pass."""
    stay = dict.fromkeys(("k_desc", "v_desc", "dk_desc", "dv_desc"), bn)
    types = {
        **_descriptors({"q_desc": bm, "dout_desc": bm, **stay}, size),
        **_descriptors({"dq_desc": bm}, size, "fp32"),
        "sums_ptr": "*fp32", "deltas_ptr": "*fp32", "scale": "fp32", "L": "i32",
    }  # fmt: skip
    return Case(
        f"gradients in one pass D{size}{' causal' if causal else ''} {bn}x{bm}",
        "attention_backward", "gradients_kernel", types,
        {"BM": bm, "BN": bn, "CAUSAL": causal, "SPECIALIZED": False, "ONE_LOOP": False},
        {"num_warps": warps, "num_stages": 3}, (1,),
    )  # fmt: skip


def hopper_kernels() -> list[Case]:
    """What bench/compile_time.py compiles for sm_90 beside the kernels that people benchmark: the
    fast forms of dots and of attention, and its gradients. They are not executed."""
    result = [
        _product_by_descriptors("product by descriptors", False, False),
        _product_by_descriptors("persistent product", True, False),
        _product_by_descriptors("specialised product", False, True),
    ]
    for size, causal in itertools.product((64, 128), (False, True)):
        result.append(_attention_by_descriptors(size, causal))
    for size, causal in itertools.product((64, 128), (False, True)):
        result.append(_gradients(size, causal, 64, size, 4 if size == 64 else 8))
    for size in (64, 128):
        for kernel, bm, bn in (("keys_values", 64, 128), ("queries", 128, 64)):
            result.append(_attention_backward(kernel, size, bm, bn, 8, 3))
    return result


def cases(everything: bool = False) -> list[Case]:
    """The cases of the table; with `everything`, all combinations for matrix products."""
    result = [_add(block, warps) for block, warps in ((1024, 4), (1024, 8), (4096, 8))]
    for example in ("softmax", "layernorm"):
        result += [_rowwise(example, c, w) for c, w in ((1024, 4), (4096, 8), (5008, 8))]
    if everything:
        configs = itertools.product(TILES, (32, 64), (4, 8), (2, 3, 4))
    else:
        configs = [
            ((64, 64), 32, 4, 3), ((64, 64), 64, 4, 3), ((64, 128), 64, 4, 3),
            ((128, 64), 32, 4, 4), ((128, 128), 32, 4, 3), ((128, 128), 64, 8, 3),
            ((128, 128), 32, 8, 2), ((64, 256), 32, 4, 4), ((128, 256), 32, 8, 4),
            ((128, 256), 64, 8, 3),
        ]  # fmt: skip
    configs = list(configs)
    for kind in ("fp16", "bf16", "tf32", "int8"):
        result += [_matmul(kind, *tile, *rest) for tile, *rest in configs]
    attention = [(64, 64, 4, 3), (128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2)]
    for size, causal in itertools.product((64, 128), (False, True)):
        result += [_attention(size, causal, *config) for config in attention]
    return result


def amd_cases() -> list[Case]:
    """The cases of the tables of AMD GPUs. Loops have the two stages that are the default there:
    LDS is smaller than the shared memory of others."""
    result = [_add(block, warps) for block, warps in ((1024, 4), (1024, 8), (4096, 8))]
    for example in ("softmax", "layernorm"):
        result += [_rowwise(example, c, w) for c, w in ((1024, 4), (4096, 8), (5008, 8))]
    tiles = [
        ((64, 64), 32, 4), ((64, 64), 64, 4), ((64, 128), 64, 4), ((128, 64), 32, 4),
        ((128, 128), 32, 4), ((128, 128), 64, 8), ((128, 256), 64, 8),
    ]  # fmt: skip
    for kind in ("fp16", "bf16", "int8"):
        result += [_matmul(kind, *tile, bk, warps, 2) for tile, bk, warps in tiles]
    # Without a matrix instruction for fp32, that is scalar arithmetic.
    small, large = ((64, 64), 32, 4), ((128, 128), 32, 8)
    for tile, bk, warps in (small, large):
        result.append(_matmul("tf32", *tile, bk, warps, 2, k=128))
    attention = [(64, 64, 4, 2), (128, 64, 4, 2), (128, 64, 8, 2)]
    for size, causal in itertools.product((64, 128), (False, True)):
        result += [_attention(size, causal, *config) for config in attention]
    return result + _corpus()


def hopper_cases() -> list[Case]:
    """The cases of the table for sm_90: what bench/matmul.py and bench/attention.py choose from,
    products of other types, gradients of attention."""
    result = [_add(block, warps) for block, warps in ((1024, 4), (1024, 8), (4096, 8))]
    for example in ("softmax", "layernorm"):
        result += [_rowwise(example, c, w) for c, w in ((1024, 4), (4096, 8), (5008, 8))]
    result += [_rowwise("layernorm", 15000, 8), _rowwise("layernorm", 15000, 16)]
    result += [
        _matmul("fp16", *config)
        for config in (
            (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 4),
            (128, 128, 64, 4, 3), (128, 128, 32, 4, 4), (64, 128, 64, 4, 4),
            (128, 128, 64, 8, 4), (128, 128, 128, 8, 3), (128, 64, 64, 4, 4),
            (64, 64, 64, 4, 4),
        )
    ]  # fmt: skip
    tiles = [(128, 256, 8, 3), (128, 128, 8, 3), (128, 128, 4, 3), (64, 128, 4, 4), (64, 64, 4, 3)]
    for kind, bytes_of_k in (("fp8", 128), ("int8", 128), ("tf32", 128)):
        bk = bytes_of_k // (4 if kind == "tf32" else 1)
        result += [
            _matmul(kind, bm, bn, bk, *rest, turned=turned)
            for turned in (True, False)
            for bm, bn, *rest in tiles
        ]
    attention = [
        (128, 64, 4, 3),
        (128, 64, 8, 3),
        (128, 128, 8, 2),
        (128, 32, 4, 4),
        (64, 64, 4, 3),
    ]
    for size, causal in itertools.product((64, 128), (False, True)):
        result += [_attention(size, causal, *config) for config in attention]
    for size in (64, 128):
        for small, large, warps in ((32, 128, 4), (64, 128, 8), (64, 64, 4)):
            result += [
                _attention_backward("keys_values", size, small, large, warps, 2),
                _attention_backward("queries", size, large, small, warps, 2),
            ]
    return result


def _scaled(a: str, b: str, bn: int, fast: bool = False) -> Case:
    """A product of operands with scales, of formats as `tl.dot_scaled` names them."""
    bm, bk, warps = 128, 128, 4
    pointers = {"e4m3": "*fp8e4nv", "e5m2": "*fp8e5", "e2m1": "*u8", "bf16": "*bf16"}
    types = {
        "a": pointers[a], "a_scale": "*u8", "b": pointers[b], "b_scale": "*u8", "out": "*fp32",
        **dict.fromkeys("MNK", "i32"),
    }  # fmt: skip
    constants: dict[str, Any] = {"A": a, "B": b, "FAST": fast, "BM": bm, "BN": bn, "BK": bk}
    if b == "bf16":
        del types["b_scale"]
        constants["b_scale"] = None
    return Case(
        f"scaled product {a} {b}{' fast' if fast else ''} {bm}x{bn}x{bk}, {warps} warps",
        "scaled_kernels", "scaled_matmul",
        types, constants, {"num_warps": warps, "num_stages": 3}, (1,),
    )  # fmt: skip


def blackwell_cases(tensor_memory: bool) -> list[Case]:
    """The cases of the tables for sm_100 and sm_120. Only the first has the shared memory for the
    tiles of sm_90. They are not executed."""
    formats = ("e4m3", "e4m3"), ("e2m1", "e2m1"), ("e5m2", "e2m1"), ("e4m3", "bf16")
    bn = 128 if tensor_memory else 64
    scaled = [_scaled(*pair, bn) for pair in formats]
    scaled += [_scaled(*pair, bn, fast=True) for pair in formats[2:]]
    if tensor_memory:
        # Two groups of warps, and one; with three stages, scores start a tile ahead. Triton has
        # no columns for heads of 128 in blocks of 256 rows: its kernel is empty.
        blocks = ((64, 256, 8, 3), (64, 256, 8, 2), (64, 128, 4, 3), (128, 128, 4, 3))
        attention = [
            _attention_by_descriptors(size, causal, bm, 64, warps, stages)
            for causal in (False, True)
            for size, bm, warps, stages in blocks
        ]
        return hopper_cases() + hopper_kernels()[:3] + scaled + attention
    fp8 = [_matmul("fp8", 128, 128, 64, 8, 3, turned=turned) for turned in (True, False)]
    return cases() + fp8 + scaled


def cases_of(kind: str, arch: Any, everything: bool = False) -> list[Case]:
    """The cases of a target's table; with `everything`, all combinations for matrix products."""
    if kind == "hip":
        return amd_cases()
    if everything or arch < 90:
        return cases(everything)
    return hopper_cases() if arch == 90 else blackwell_cases(tensor_memory=arch < 120)
