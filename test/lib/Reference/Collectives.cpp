//===-- Collectives.cpp - Reductions, scans, gathers ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements are combined from the first to the last, as if the region were not
// commutative.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;

/// Whether a region computes on whole tensors what it does on numbers.
static bool isElementwise(Region &region) {
  if (!region.hasOneBlock())
    return false;
  return llvm::none_of(region.front(), [](Operation &op) {
    return op.getNumRegions() || isa<CallOp>(op) || !isMemoryEffectFree(&op);
  });
}

namespace {
/// How the elements along an axis lie: `outer` x `length` x `inner`.
struct Axis {
  Axis(ArrayRef<int64_t> shape, unsigned axis) : length(shape[axis]) {
    for (int64_t size : shape.take_front(axis))
      outer *= size;
    for (int64_t size : shape.drop_front(axis + 1))
      inner *= size;
    rest.append(shape.begin(), shape.begin() + axis);
    rest.append(shape.begin() + axis + 1, shape.end());
  }
  int64_t outer = 1, length, inner = 1;
  SmallVector<int64_t, 4> rest;

  size_t place(int64_t slice, int64_t i) const {
    return (i / inner * length + slice) * inner + i % inner;
  }
  Tensor take(const Tensor &tensor, int64_t slice) const {
    Tensor result(rest);
    for (size_t i = 0; i < result.size(); ++i) {
      size_t at = place(slice, i);
      result.bits[i] = tensor.bits[at];
      if (tensor.isUndefined(at))
        result.setUndefined(i);
    }
    return result;
  }
  void put(Tensor &tensor, int64_t slice, const Tensor &values) const {
    for (int64_t i = 0; i < outer * inner; ++i) {
      size_t from = values.size() > 1 ? i : 0;
      tensor.bits[place(slice, i)] = values.bits[from];
      if (values.isUndefined(from))
        tensor.setUndefined(place(slice, i));
    }
  }
};

/// Runs a region on the elements of tensors.
class Combiner {
public:
  Combiner(Thread &thread, Region &region)
      : thread(thread), region(region), atOnce(isElementwise(region)) {}

  /// Nothing if the execution ended.
  std::optional<SmallVector<Tensor>> combine(ArrayRef<Tensor> arguments,
                                             ArrayRef<int64_t> shape) {
    if (atOnce) {
      auto found = run(arguments);
      if (!found)
        return std::nullopt;
      // What the region gives need not depend on any argument.
      for (Tensor &tensor : *found)
        if (ArrayRef<int64_t>(tensor.shape) != shape)
          tensor = repeat(tensor, shape);
      return found;
    }
    SmallVector<Tensor> results;
    size_t count = ShapedType::getNumElements(shape);
    for (size_t i = 0; i < count; ++i) {
      SmallVector<Tensor> numbers;
      for (const Tensor &argument : arguments) {
        numbers.push_back(Tensor::scalar(argument.bits[i]));
        if (argument.isUndefined(i))
          numbers.back().setUndefined(0);
      }
      auto found = run(numbers);
      if (!found)
        return std::nullopt;
      results.resize(found->size(), Tensor(shape));
      for (auto [result, number] : llvm::zip(results, *found)) {
        result.bits[i] = number.bits[0];
        if (number.isUndefined(0))
          result.setUndefined(i);
      }
    }
    return results;
  }

private:
  static Tensor repeat(const Tensor &tensor, ArrayRef<int64_t> shape) {
    Tensor result(shape);
    for (size_t i = 0; i < result.size(); ++i) {
      size_t from = tensor.size() > 1 ? i : 0;
      result.bits[i] = tensor.bits[from];
      if (tensor.isUndefined(from))
        result.setUndefined(i);
    }
    return result;
  }

  std::optional<SmallVector<Tensor>> run(ArrayRef<Tensor> arguments) {
    SmallVector<Val> values;
    for (const Tensor &argument : arguments)
      values.push_back({std::make_shared<const Tensor>(argument), {}});
    auto found = thread.evaluate(region, values);
    if (!found)
      return std::nullopt;
    return llvm::map_to_vector(*found, [](Val &val) { return *val.tensor; });
  }

  Thread &thread;
  Region &region;
  bool atOnce;
};
} // namespace

static Step runReduce(Thread &thread, Operation *op) {
  auto reduce = cast<ReduceOp>(op);
  Axis axis(thread.tensor(reduce.getSrcs().front()).shape, reduce.getAxis());
  Combiner combiner(thread, reduce.getCombineOp());
  SmallVector<Tensor> sums;
  for (Value source : reduce.getSrcs())
    sums.push_back(axis.take(thread.tensor(source), 0));
  for (int64_t i = 1; i < axis.length; ++i) {
    SmallVector<Tensor> arguments = sums;
    for (Value source : reduce.getSrcs())
      arguments.push_back(axis.take(thread.tensor(source), i));
    auto next = combiner.combine(arguments, axis.rest);
    if (!next)
      return Step::Stop;
    sums = std::move(*next);
  }
  for (auto [result, sum] : llvm::zip(op->getResults(), sums))
    thread.set(result, std::move(sum));
  return Step::Next;
}

static Step runScan(Thread &thread, Operation *op) {
  auto scan = cast<ScanOp>(op);
  Axis axis(thread.tensor(scan.getSrcs().front()).shape, scan.getAxis());
  Combiner combiner(thread, scan.getCombineOp());
  SmallVector<Tensor> sums, results;
  for (Value source : scan.getSrcs())
    results.push_back(thread.tensor(source));
  for (int64_t n = 0; n < axis.length; ++n) {
    int64_t i = scan.getReverse() ? axis.length - 1 - n : n;
    SmallVector<Tensor> arguments = sums;
    for (Value source : scan.getSrcs())
      arguments.push_back(axis.take(thread.tensor(source), i));
    if (n == 0) {
      sums = arguments;
      continue;
    }
    auto next = combiner.combine(arguments, axis.rest);
    if (!next)
      return Step::Stop;
    sums = std::move(*next);
    for (auto [result, sum] : llvm::zip(results, sums))
      axis.put(result, i, sum);
  }
  for (auto [result, tensor] : llvm::zip(op->getResults(), results))
    thread.set(result, std::move(tensor));
  return Step::Next;
}

static Step runMap(Thread &thread, Operation *op) {
  auto map = cast<MapElementwiseOp>(op);
  Combiner combiner(thread, map.getScalarOp());
  const Tensor &first = thread.tensor(map.getSrcs().front());
  int64_t pack = map.getPack();
  // Every `pack`-th element, from each of the first on.
  SmallVector<int64_t, 1> groups{int64_t(first.size()) / pack};
  SmallVector<Tensor> arguments;
  for (Value source : map.getSrcs())
    for (int64_t offset = 0; offset < pack; ++offset) {
      Tensor flat = thread.tensor(source);
      flat.shape = {groups[0], pack};
      arguments.push_back(Axis(flat.shape, 1).take(flat, offset));
    }
  auto found = combiner.combine(arguments, groups);
  if (!found)
    return Step::Stop;
  for (OpResult result : op->getResults()) {
    Tensor flat(ArrayRef<int64_t>{groups[0], pack});
    for (int64_t offset = 0; offset < pack; ++offset)
      Axis(flat.shape, 1)
          .put(flat, offset,
               (*found)[result.getResultNumber() * pack + offset]);
    flat.shape = first.shape;
    thread.set(result, std::move(flat));
  }
  return Step::Next;
}

static Step runGather(Thread &thread, Operation *op) {
  auto gather = cast<GatherOp>(op);
  const Tensor &source = thread.tensor(gather.getSrc()),
               &indices = thread.tensor(gather.getIndices());
  unsigned width = getElementBits(gather.getIndices().getType());
  SmallVector<int64_t, 4> strides = getRowMajorStrides(source.shape);
  unsigned axis = gather.getAxis();
  Tensor result(indices.shape);
  forEachPosition(indices.shape, [&](int64_t n, ArrayRef<int64_t> at) {
    int64_t index = signExtend(indices.bits[n], width), place = 0;
    for (size_t d = 0; d < at.size(); ++d)
      place += (d == axis ? index : at[d]) * strides[d];
    if (indices.isUndefined(n) || index < 0 || index >= source.shape[axis] ||
        source.isUndefined(place))
      return result.setUndefined(n);
    result.bits[n] = source.bits[place];
  });
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

static Step runHistogram(Thread &thread, Operation *op) {
  auto histogram = cast<HistogramOp>(op);
  const Tensor &source = thread.tensor(histogram.getSrc());
  Tensor result(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  for (size_t i = 0; i < source.size(); ++i) {
    bool counts = true, isUndefined = source.isUndefined(i);
    if (Value mask = histogram.getMask()) {
      counts = thread.tensor(mask).bits[i] & 1;
      isUndefined &= counts;
      isUndefined |= thread.tensor(mask).isUndefined(i);
    }
    if (isUndefined) {
      result = Tensor::allUndefined(result.shape);
      break;
    }
    if (counts && source.bits[i] < result.size())
      ++result.bits[source.bits[i]];
  }
  thread.set(op->getResult(0), std::move(result));
  return Step::Next;
}

void mlir::triton::reference::registerCollectives(Handlers &handlers) {
  handlers["tt.reduce"] = runReduce;
  handlers["tt.scan"] = runScan;
  handlers["tt.map_elementwise"] = runMap;
  handlers["tt.gather"] = runGather;
  handlers["tt.histogram"] = runHistogram;
}
