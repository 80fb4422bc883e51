//===-- ViewTest.cpp - Views of buffers against enumeration ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory.h"

#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mlir::triton::reference;

namespace {

View makeView(ArrayRef<int64_t> shape) {
  View view;
  view.buffer = std::make_shared<Buffer>();
  view.shape.assign(shape.begin(), shape.end());
  view.strides = getRowMajorStrides(shape);
  view.elementBytes = 2;
  view.elementBits = 16;
  view.buffer->bytes = Bytes(2 * ShapedType::getNumElements(shape), Undefined);
  return view;
}

Tensor makeNumbers(ArrayRef<int64_t> shape) {
  Tensor tensor(shape);
  for (auto [i, bits] : llvm::enumerate(tensor.bits))
    bits = i + 1;
  return tensor;
}

/// Any sequence of transpositions, slices and reshapes reads what the same
/// operations on an array would.
TEST(ViewTest, ReadsWhatArraysWould) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    SmallVector<int64_t, 4> shape{8, 4, 4};
    auto view = std::make_shared<View>(makeView(shape));
    Tensor expected = makeNumbers(shape);
    view->write(expected);
    for (int step = 0; step < 4; ++step) {
      switch (random() % 3) {
      case 0: { // Two dimensions change places.
        size_t a = random() % view->shape.size(),
               b = random() % view->shape.size();
        std::swap(view->shape[a], view->shape[b]);
        std::swap(view->strides[a], view->strides[b]);
        SmallVector<int64_t, 4> strides = getRowMajorStrides(expected.shape);
        std::swap(strides[a], strides[b]);
        Tensor moved(view->shape);
        forEachPosition(view->shape, [&](int64_t n, ArrayRef<int64_t> at) {
          int64_t from = 0;
          for (auto [i, stride] : llvm::zip(at, strides))
            from += i * stride;
          moved.bits[n] = expected.bits[from];
        });
        expected = moved;
        break;
      }
      case 1: { // The upper half of a dimension.
        size_t d = random() % view->shape.size();
        if (view->shape[d] < 2)
          break;
        SmallVector<int64_t, 4> strides = getRowMajorStrides(expected.shape);
        int64_t start = view->shape[d] / 2;
        view->shape[d] -= start;
        view->offset += start * view->strides[d];
        Tensor part(view->shape);
        forEachPosition(view->shape, [&](int64_t n, ArrayRef<int64_t> at) {
          int64_t from = start * strides[d];
          for (auto [i, stride] : llvm::zip(at, strides))
            from += i * stride;
          part.bits[n] = expected.bits[from];
        });
        expected = part;
        break;
      }
      default: { // The same elements under another shape.
        int64_t count = ShapedType::getNumElements(view->shape);
        int64_t rows = int64_t(1) << (random() % 4);
        rows = std::min(rows, count);
        SmallVector<int64_t, 4> next{rows, count / rows};
        view = view->reshape(next);
        expected.shape = next;
      }
      }
      Tensor found = view->read();
      EXPECT_EQ(ArrayRef<int64_t>(found.shape),
                ArrayRef<int64_t>(expected.shape));
      EXPECT_EQ(found.bits, expected.bits);
      EXPECT_TRUE(found.undefined.empty());
      EXPECT_TRUE(view->isInBounds());
    }
  }
}

TEST(ViewTest, WhatNobodyWroteIsUndefined) {
  View view = makeView({4});
  EXPECT_TRUE(view.read().isUndefined(0));
  view.write(makeNumbers({4}));
  EXPECT_FALSE(view.read().isUndefined(0));
  view.mark(InFlight);
  EXPECT_TRUE(view.read().isUndefined(3));
}

} // namespace
