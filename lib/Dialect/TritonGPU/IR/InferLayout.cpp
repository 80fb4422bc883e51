//===-- InferLayout.cpp - Encodings of results ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// How operations that move elements between positions change an encoding. An
// encoding with a name (blocked, slice, ...) keeps one where the rule is plain;
// otherwise the answer is computed on the linear layout, and named afterwards
// if it happens to be a blocked one.
//
//===----------------------------------------------------------------------===//

#include "LayoutInterfaces.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// An error at `loc`, if there is one; a failure in any case.
template <typename... Parts>
static LogicalResult fail(std::optional<Location> loc, Parts &&...parts) {
  if (loc) {
    InFlightDiagnostic diag = emitError(*loc);
    (diag << ... << std::forward<Parts>(parts));
  }
  return failure();
}

static LogicalResult expectDistributed(Attribute src,
                                       std::optional<Location> loc) {
  if (isa<DistributedEncodingTrait>(src))
    return success();
  return fail(loc, "expected an encoding of a tensor, found ", src);
}

static FailureOr<LinearLayout> getLinearLayout(ArrayRef<int64_t> shape,
                                               Attribute src,
                                               std::optional<Location> loc) {
  if (!loc)
    return tryToLinearLayout(shape, src);
  return tryToLinearLayout(shape, src, [&] { return emitError(*loc); });
}

/// The layout with its out dims called dim0, dim1, ... in their order.
static LinearLayout renameOutDims(LinearLayout layout) {
  SmallVector<StringRef> oldNames = layout.getOutDimNames();
  SmallVector<StringRef> newNames = standardOutDimNames(oldNames.size());
  LinearLayout::Bases bases = layout.getBases();
  LinearLayout::NamedSizes sizes = layout.getOutDims();
  for (auto [size, name] : llvm::zip(sizes, newNames))
    size.first = name;
  return LinearLayout(bases, sizes, /*requireSurjective=*/false);
}

//===----------------------------------------------------------------------===//
// Reduction and expansion
//===----------------------------------------------------------------------===//

FailureOr<Attribute>
TritonGPUInferLayout::inferReduceLayout(Attribute src, unsigned axis,
                                        std::optional<Location> loc) const {
  if (failed(expectDistributed(src, loc)))
    return failure();
  unsigned rank = cast<LayoutEncodingTrait>(src).getRank();
  if (rank < 2 || axis >= rank)
    return fail(loc, "cannot remove dimension ", axis,
                " from an encoding of rank ", rank);
  return Attribute(SliceEncodingAttr::get(src.getContext(), axis, src));
}

FailureOr<Attribute> TritonGPUInferLayout::inferReduceOperandLayout(
    Attribute result, unsigned axis, std::optional<Location> loc) const {
  auto slice = dyn_cast<SliceEncodingAttr>(result);
  if (slice && slice.getDim() == axis)
    return slice.getParent();
  return fail(loc, "expected a slice encoding along dimension ", axis,
              ", found ", result);
}

FailureOr<Attribute>
TritonGPUInferLayout::inferExpandDimsLayout(Attribute src, unsigned axis,
                                            std::optional<Location> loc) const {
  if (failed(expectDistributed(src, loc)))
    return failure();
  if (auto slice = dyn_cast<SliceEncodingAttr>(src)) {
    if (slice.getDim() == axis)
      return slice.getParent();
    return fail(loc, "expected a source with a slice encoding along dimension ",
                axis, ", found one along dimension ", slice.getDim());
  }
  auto linear = dyn_cast<LinearEncodingAttr>(src);
  if (!linear)
    return fail(loc, "expected a slice encoding along dimension ", axis,
                ", found ", src);
  const LinearLayout &layout = linear.getLinearLayout();
  if (axis > layout.getNumOutDims())
    return fail(loc, "cannot insert dimension ", axis,
                " into an encoding of rank ", layout.getNumOutDims());
  LinearLayout::Bases bases = layout.getBases();
  for (auto &[dim, dimBases] : bases)
    for (std::vector<int32_t> &basis : dimBases)
      basis.insert(basis.begin() + axis, 0);
  LinearLayout::NamedSizes sizes = layout.getOutDims();
  sizes.insert(sizes.begin() + axis, {StringRef(), 1});
  for (auto [i, size] : llvm::enumerate(sizes))
    size.first = kDim(i);
  return Attribute(
      LinearEncodingAttr::get(src.getContext(), LinearLayout(bases, sizes)));
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

template <typename T>
static SmallVector<T> permute(ArrayRef<T> values, ArrayRef<int32_t> order) {
  SmallVector<T> result;
  for (int32_t dim : order)
    result.push_back(values[dim]);
  return result;
}

/// The order of the dims after the transposition: dim `order[i]` is now `i`.
static SmallVector<unsigned> permuteOrder(ArrayRef<unsigned> dims,
                                          ArrayRef<int32_t> order) {
  SmallVector<unsigned> newPosition(order.size());
  for (auto [i, dim] : llvm::enumerate(order))
    newPosition[dim] = i;
  SmallVector<unsigned> result;
  for (unsigned dim : dims)
    result.push_back(newPosition[dim]);
  return result;
}

static LinearLayout permuteOuts(const LinearLayout &layout,
                                ArrayRef<int32_t> order) {
  SmallVector<StringRef> names;
  for (int32_t dim : order)
    names.push_back(kDim(dim));
  return renameOutDims(layout.transposeOuts(names));
}

static bool isIdentity(ArrayRef<int32_t> order) {
  return llvm::equal(order, llvm::seq<int32_t>(order.size()));
}

/// The encodings whose transposition does not depend on the shape; null for
/// the others.
static Attribute transposeByName(Attribute src, ArrayRef<int32_t> order) {
  MLIRContext *context = src.getContext();
  return TypeSwitch<Attribute, Attribute>(src)
      .Case([&](BlockedEncodingAttr enc) {
        return BlockedEncodingAttr::get(context,
                                        permute(enc.getSizePerThread(), order),
                                        permute(enc.getThreadsPerWarp(), order),
                                        permute(enc.getWarpsPerCTA(), order),
                                        permuteOrder(enc.getOrder(), order),
                                        enc.getCTALayout().permute(order));
      })
      .Case([&](LinearEncodingAttr enc) {
        return LinearEncodingAttr::get(
            context, permuteOuts(enc.getLinearLayout(), order));
      })
      .Case([&](SliceEncodingAttr enc) -> Attribute {
        // The sliced dimension stays where it is in the parent.
        int32_t dim = enc.getDim();
        SmallVector<int32_t> parentOrder;
        for (int32_t from : order)
          parentOrder.push_back(from < dim ? from : from + 1);
        parentOrder.insert(parentOrder.begin() + dim, dim);
        Attribute parent = transposeByName(enc.getParent(), parentOrder);
        if (!parent)
          return {};
        return SliceEncodingAttr::get(context, dim, parent);
      })
      .Case([&](SwizzledSharedEncodingAttr enc) {
        return SwizzledSharedEncodingAttr::get(
            context, enc.getVec(), enc.getPerPhase(), enc.getMaxPhase(),
            permuteOrder(enc.getOrder(), order),
            enc.getCTALayout().permute(order));
      })
      .Case([&](AMDRotatingSharedEncodingAttr enc) {
        return AMDRotatingSharedEncodingAttr::get(
            context, enc.getVec(), enc.getPerPhase(), enc.getMaxPhase(),
            permuteOrder(enc.getOrder(), order),
            enc.getCTALayout().permute(order));
      })
      .Case([&](NVMMASharedEncodingAttr enc) -> Attribute {
        // Only the last two dimensions can change places.
        int32_t rank = order.size();
        if (rank < 2 || !isIdentity(order.drop_back(2)) ||
            order[rank - 1] != rank - 2)
          return {};
        return NVMMASharedEncodingAttr::get(
            context, enc.getSwizzlingByteWidth(), !enc.getTransposed(),
            enc.getElementBitWidth(), enc.getFp4Padded(),
            enc.getCTALayout().permute(order));
      })
      .Case([&](PaddedSharedEncodingAttr enc) {
        return PaddedSharedEncodingAttr::get(
            context, enc.getIntervals(), enc.getPaddings(),
            permuteOuts(enc.getLinearComponent(), order));
      })
      .Case([&](SharedLinearEncodingAttr enc) {
        return SharedLinearEncodingAttr::get(
            context, permuteOuts(enc.getLinearLayout(), order),
            enc.getLayoutAlignment());
      })
      .Case([&](PartitionedSharedEncodingAttr enc) -> Attribute {
        Attribute part = transposeByName(enc.getPartitionLayout(), order);
        if (!part)
          return {};
        return PartitionedSharedEncodingAttr::get(
            context, enc.getNumPartitions(), enc.getNumGroups(),
            permuteOrder(enc.getPartitionDim(), order).front(), part);
      })
      .Default([](Attribute) { return Attribute(); });
}

FailureOr<Attribute>
TritonGPUInferLayout::inferTransLayout(Attribute src, ArrayRef<int64_t> shape,
                                       ArrayRef<int32_t> order,
                                       std::optional<Location> loc) const {
  auto layout = dyn_cast<LayoutEncodingTrait>(src);
  if (!layout || layout.getRank() != order.size())
    return fail(loc, "expected an encoding of rank ", order.size(), ", found ",
                src);
  if (isIdentity(order))
    return src;
  if (Attribute result = transposeByName(src, order))
    return result;
  auto rows = dyn_cast<NVMMASharedEncodingAttr>(src);
  bool isOfRows = rows && !rows.getFp4Padded();
  if (!isa<DistributedEncodingTrait>(src) && !isOfRows)
    return fail(loc, "no encoding describes the transposition of ", src);
  FailureOr<LinearLayout> linear = getLinearLayout(shape, src, loc);
  if (failed(linear))
    return failure();
  if (isOfRows)
    return SharedLinearEncodingAttr::get(
        src.getContext(), permuteOuts(*linear, order), rows.getAlignment());
  return nameLinearLayout(src.getContext(), permute(shape, order),
                          permuteOuts(*linear, order));
}

//===----------------------------------------------------------------------===//
// Reshape, join, split, cat
//===----------------------------------------------------------------------===//

FailureOr<Attribute> TritonGPUInferLayout::inferReshapeLayout(
    Attribute src, ArrayRef<int64_t> srcShape, ArrayRef<int64_t> dstShape,
    std::optional<Location> loc) const {
  if (srcShape == dstShape)
    return src;
  if (failed(expectDistributed(src, loc)))
    return failure();
  FailureOr<LinearLayout> linear = getLinearLayout(srcShape, src, loc);
  if (failed(linear))
    return failure();
  return nameLinearLayout(src.getContext(), dstShape,
                          reshapeOuts(*linear, dstShape));
}

LinearLayout gpu::reshapeOuts(const LinearLayout &layout,
                              ArrayRef<int64_t> shape) {
  // The last dimension of a tensor is the most minor one; the first out dim of
  // a layout is.
  SmallVector<StringRef> oldNames = layout.getOutDimNames();
  SmallVector<LinearLayout::NamedSize> newDims;
  SmallVector<StringRef> newNames = standardOutDimNames(shape.size());
  for (unsigned dim = shape.size(); dim-- > 0;)
    newDims.emplace_back(newNames[dim], shape[dim]);
  return layout.transposeOuts(llvm::to_vector(llvm::reverse(oldNames)))
      .reshapeOuts(newDims)
      .transposeOuts(newNames);
}

FailureOr<Attribute>
TritonGPUInferLayout::inferJoinLayout(Attribute src, ArrayRef<int64_t> shape,
                                      std::optional<Location> loc) const {
  if (failed(expectDistributed(src, loc)))
    return failure();
  MLIRContext *context = src.getContext();
  unsigned rank = shape.size();

  SmallVector<int64_t> dstShape(shape);
  dstShape.push_back(2);
  // Halves of a split are slices: joined, they are what they were before.
  if (auto half = dyn_cast<SliceEncodingAttr>(src);
      half && half.getDim() == rank &&
      succeeded(inferSplitLayout(half.getParent(), dstShape, std::nullopt)))
    return Attribute(half.getParent());
  // The two elements that come together are neighbours in a thread.
  if (auto enc = dyn_cast<BlockedEncodingAttr>(src)) {
    auto append = [](ArrayRef<unsigned> values, unsigned value) {
      SmallVector<unsigned> result(values);
      result.push_back(value);
      return result;
    };
    SmallVector<unsigned> order(enc.getOrder());
    order.insert(order.begin(), rank);
    return Attribute(BlockedEncodingAttr::get(
        context, append(enc.getSizePerThread(), 2),
        append(enc.getThreadsPerWarp(), 1), append(enc.getWarpsPerCTA(), 1),
        order, enc.getCTALayout().insertDim(rank)));
  }
  FailureOr<LinearLayout> linear = getLinearLayout(shape, src, loc);
  if (failed(linear))
    return failure();
  // A thread needs no copies of elements beside the new ones. Around a loop,
  // there would be more with each iteration.
  LinearLayout joined = (LinearLayout::identity1D(2, kRegister, kDim(rank)) *
                         linear->removeZeroBasesAlongDim(kRegister))
                            .transposeOuts(standardOutDimNames(rank + 1));
  return nameLinearLayout(context, dstShape, joined);
}

FailureOr<Attribute>
TritonGPUInferLayout::inferSplitLayout(Attribute src, ArrayRef<int64_t> shape,
                                       std::optional<Location> loc) const {
  if (failed(expectDistributed(src, loc)))
    return failure();
  MLIRContext *context = src.getContext();
  unsigned last = shape.size() - 1;
  if (shape.empty() || shape[last] != 2)
    return fail(loc, "the last dimension of a tensor to split is 2, found [",
                shape, "]");

  auto enc = dyn_cast<BlockedEncodingAttr>(src);
  if (enc && enc.getSizePerThread()[last] == 2 &&
      enc.getThreadsPerWarp()[last] == 1 && enc.getWarpsPerCTA()[last] == 1 &&
      enc.getCTALayout().getCTASplitNum()[last] == 1) {
    SmallVector<unsigned> order;
    for (unsigned dim : enc.getOrder())
      if (dim != last)
        order.push_back(dim);
    return Attribute(BlockedEncodingAttr::get(
        context, enc.getSizePerThread().drop_back(),
        enc.getThreadsPerWarp().drop_back(), enc.getWarpsPerCTA().drop_back(),
        order, enc.getCTALayout().dropDim(last)));
  }

  FailureOr<LinearLayout> linear = getLinearLayout(shape, src, loc);
  if (failed(linear))
    return failure();
  // One register bit steps along the last dimension, and nothing else does.
  LinearLayout::Bases bases = linear->getBases();
  unsigned numSteps = 0;
  for (auto &[dim, dimBases] : bases) {
    for (auto *it = dimBases.data(); it != dimBases.data() + dimBases.size();) {
      if (it->back() == 0) {
        it->pop_back();
        ++it;
        continue;
      }
      bool isPlainStep = dim == kRegister &&
                         llvm::all_of(ArrayRef(*it).drop_back(),
                                      [](int32_t coord) { return coord == 0; });
      if (!isPlainStep || ++numSteps > 1)
        return fail(loc,
                    "the two elements along the last dimension lie in "
                    "different threads or are held twice: ",
                    src);
      size_t index = it - dimBases.data();
      dimBases.erase(dimBases.begin() + index);
      it = dimBases.data() + index;
    }
  }
  if (numSteps != 1)
    return fail(loc,
                "the elements along the last dimension are not spread "
                "over registers: ",
                src);
  LinearLayout::NamedSizes sizes = linear->getOutDims();
  sizes.pop_back();
  return nameLinearLayout(context, shape.drop_back(),
                          LinearLayout(bases, sizes));
}

FailureOr<Attribute>
TritonGPUInferLayout::inferCatLayout(Attribute src, ArrayRef<int64_t> shape,
                                     std::optional<Location> loc) const {
  auto blocked = dyn_cast<BlockedEncodingAttr>(src);
  if (!blocked)
    return fail(loc, "expected operands of a blocked layout, found ", src);
  // Elements stay in their threads, so each thread gets twice as many.
  SmallVector<unsigned> size(blocked.getSizePerThread());
  size[blocked.getOrder()[0]] = 2 * getTotalElemsPerThread(src, shape);
  return Attribute(BlockedEncodingAttr::get(
      src.getContext(), size, blocked.getThreadsPerWarp(),
      blocked.getWarpsPerCTA(), blocked.getOrder(), blocked.getCTALayout()));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult TritonGPUInferLayout::verifyDotLayouts(Operation *op, Attribute a,
                                                     Attribute b,
                                                     Attribute result) const {
  auto lhs = dyn_cast_or_null<DotOperandEncodingAttr>(a);
  auto rhs = dyn_cast_or_null<DotOperandEncodingAttr>(b);
  if (!lhs || lhs.getOpIdx() != 0)
    return op->emitOpError() << "expected the left operand to have a dot_op "
                                "encoding with opIdx = 0, found "
                             << a;
  if (!rhs || rhs.getOpIdx() != 1)
    return op->emitOpError() << "expected the right operand to have a dot_op "
                                "encoding with opIdx = 1, found "
                             << b;
  if (lhs.getKWidth() != rhs.getKWidth())
    return op->emitOpError()
           << "operands have different kWidth: " << lhs.getKWidth() << " and "
           << rhs.getKWidth();
  for (DotOperandEncodingAttr operand : {lhs, rhs})
    if (operand.getParent() != result)
      return op->emitOpError() << "expected the parent of both operands to be "
                                  "the encoding of the result, "
                               << result << ", found " << operand.getParent();
  return success();
}

LogicalResult TritonGPUInferLayout::verifyLayoutsAreEquivalent(
    ArrayRef<int64_t> shape, Attribute expected, Attribute found,
    std::optional<Location> loc) const {
  if (areLayoutsEquivalent(shape, expected, found))
    return success();
  return fail(loc, "expected an encoding equivalent to ", expected, ", found ",
              found);
}
