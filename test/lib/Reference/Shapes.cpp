//===-- Shapes.cpp - Where elements go ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

static ArrayRef<int64_t> getShape(Value value) {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    return type.getShape();
  return {};
}

/// A tensor each of whose elements is one of `source`, where strides say.
static Tensor pick(const Tensor &source, ArrayRef<int64_t> shape,
                   ArrayRef<int64_t> strides, int64_t start = 0) {
  Tensor result(shape);
  forEachPlace(shape, strides, start, [&](int64_t n, int64_t place) {
    result.bits[n] = source.bits[place];
  });
  if (!source.undefined.empty())
    forEachPlace(shape, strides, start, [&](int64_t n, int64_t place) {
      if (source.undefined[place])
        result.setUndefined(n);
    });
  return result;
}

static Step makeRange(Thread &thread, Operation *op) {
  auto range = cast<MakeRangeOp>(op);
  Tensor result(getShape(range.getResult()));
  for (auto [i, bits] : llvm::enumerate(result.bits))
    bits = uint32_t(range.getStart() + i);
  thread.set(range.getResult(), std::move(result));
  return Step::Next;
}

/// A number everywhere, or repetition along dimensions of size one.
static Step broadcast(Thread &thread, Operation *op) {
  const Tensor &source = thread.tensor(op->getOperand(0));
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  SmallVector<int64_t, 4> strides(shape.size());
  if (!source.shape.empty()) {
    strides = getRowMajorStrides(source.shape);
    for (auto [stride, size] : llvm::zip(strides, source.shape))
      if (size == 1)
        stride = 0;
  }
  thread.set(op->getResult(0), pick(source, shape, strides));
  return Step::Next;
}

/// The same elements in row-major order.
static Step reshape(Thread &thread, Operation *op) {
  Tensor result = thread.tensor(op->getOperand(0));
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  result.shape.assign(shape.begin(), shape.end());
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

static Step transpose(Thread &thread, Operation *op) {
  const Tensor &source = thread.tensor(op->getOperand(0));
  SmallVector<int64_t, 4> strides;
  SmallVector<int64_t, 4> all = getRowMajorStrides(source.shape);
  for (int32_t d : cast<TransOp>(op).getOrder())
    strides.push_back(all[d]);
  thread.set(op->getResult(0),
             pick(source, getShape(op->getResult(0)), strides));
  return Step::Next;
}

/// Two tensors, the elements of the second behind those of the first along a
/// dimension, which is new if `stack`.
static Step join(Thread &thread, Operation *op) {
  const Tensor &a = thread.tensor(op->getOperand(0)),
               &b = thread.tensor(op->getOperand(1));
  Tensor result(getShape(op->getResult(0)));
  bool interleave = isa<JoinOp>(op);
  for (size_t i = 0; i < result.size(); ++i) {
    const Tensor &from = (interleave ? i % 2 : i / a.size()) ? b : a;
    size_t at = interleave ? i / 2 : i % a.size();
    result.bits[i] = from.bits[at];
    if (from.isUndefined(at))
      result.setUndefined(i);
  }
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

static Step split(Thread &thread, Operation *op) {
  const Tensor &source = thread.tensor(op->getOperand(0));
  SmallVector<int64_t, 4> strides = getRowMajorStrides(source.shape);
  for (OpResult half : op->getResults())
    thread.set(half, pick(source, getShape(half), ArrayRef(strides).drop_back(),
                          half.getResultNumber()));
  return Step::Next;
}

/// Blocks of AMD: `amdg.extract_slice`, `amdg.concat`.
static Step extractSlice(Thread &thread, Operation *op) {
  const Tensor &source = thread.tensor(op->getOperand(0));
  auto offsets = op->getAttrOfType<DenseI64ArrayAttr>("static_offsets");
  if (!offsets)
    return thread.unknown(op, "offsets of another form");
  SmallVector<int64_t, 4> strides = getRowMajorStrides(source.shape);
  int64_t start = 0;
  for (auto [offset, stride] : llvm::zip(offsets.asArrayRef(), strides))
    start += offset * stride;
  thread.set(op->getResult(0),
             pick(source, getShape(op->getResult(0)), strides, start));
  return Step::Next;
}

static Step concatenate(Thread &thread, Operation *op) {
  ArrayRef<int64_t> shape = getShape(op->getResult(0)),
                    block = getShape(op->getOperand(0));
  SmallVector<int64_t, 4> blocks;
  for (auto [size, part] : llvm::zip(shape, block))
    blocks.push_back(size / part);
  SmallVector<int64_t, 4> blockStrides = getRowMajorStrides(blocks),
                          strides = getRowMajorStrides(block);
  Tensor result(shape);
  forEachPosition(shape, [&](int64_t n, ArrayRef<int64_t> at) {
    int64_t number = 0, inside = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      number += at[d] / block[d] * blockStrides[d];
      inside += at[d] % block[d] * strides[d];
    }
    const Tensor &from = thread.tensor(op->getOperand(number));
    result.bits[n] = from.bits[inside];
    if (from.isUndefined(inside))
      result.setUndefined(n);
  });
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

void mlir::triton::reference::registerShapes(Handlers &handlers) {
  handlers["tt.make_range"] = makeRange;
  handlers["tt.splat"] = handlers["tt.broadcast"] = broadcast;
  for (StringRef name : {"tt.unsplat", "tt.reshape", "tt.expand_dims"})
    handlers[name] = reshape;
  handlers["tt.trans"] = transpose;
  handlers["tt.join"] = handlers["tt.cat"] = join;
  handlers["tt.split"] = split;
  handlers["amdg.extract_slice"] = extractSlice;
  handlers["amdg.concat"] = concatenate;
  // Another layout of the same tensor. What is still computed is read here.
  handlers["ttg.convert_layout"] = handlers["amdg.in_thread_transpose"] =
      reshape;
}
