"""Tensors of 4-bit floats that programs make on the host."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tile.compat.triton.tools.mxfp import MXFP4Tensor  # noqa: E402


def test_every_code_is_what_its_value_becomes():
    tensor = MXFP4Tensor(size=(16,), device="cpu")
    tensor.data = torch.arange(16, dtype=torch.uint8)
    again = MXFP4Tensor(tensor.to(torch.float32))
    assert torch.equal(again.data, tensor.data)


def test_values_go_to_the_nearest_code():
    values = np.random.default_rng(1).uniform(-7, 7, 500)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    found = MXFP4Tensor(torch.tensor(values)).to(torch.float64).numpy()
    distance = np.abs(np.abs(values)[:, None] - table).min(1)
    assert (np.sign(found) * np.sign(values) >= 0).all()
    np.testing.assert_allclose(np.abs(np.abs(found) - np.abs(values)), distance)


@pytest.mark.parametrize("shape", [(1,), (5,), (6,), (7, 5), (4, 6), (3, 5, 2)])
def test_packing_along_each_dimension(shape):
    tensor = MXFP4Tensor(size=shape, device="cpu").random()
    for dim in range(-len(shape), len(shape)):
        packed = tensor.to_packed_tensor(dim)
        assert packed.shape[dim] == (shape[dim] + 1) // 2
        assert torch.equal(tensor.unpack_packed_tensor(packed, dim, shape), tensor.data)
    with pytest.raises(AssertionError, match="there is no dimension"):
        tensor.to_packed_tensor(len(shape))
