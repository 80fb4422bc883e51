//===-- LinearLayoutConversions.cpp - Encodings as linear layouts ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LayoutCache.h"
#include "LinearLayoutConversionsDetail.h"
#include "tile/Dialect/TritonGPU/IR/LayoutChecks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;
using namespace mlir::triton::gpu::layouts;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

LogicalResult layouts::fail(EmitError emitError, const Twine &message) {
  if (emitError)
    emitError() << message;
  return failure();
}

SmallVector<unsigned> layouts::rowMajorOrder(unsigned rank) {
  SmallVector<unsigned> order;
  for (unsigned i = rank; i-- > 0;)
    order.push_back(i);
  return order;
}

SmallVector<int64_t> layouts::shapePerBlock(ArrayRef<int64_t> shape,
                                            const LinearLayout &blocks) {
  SmallVector<int64_t> result;
  for (auto [i, size] : llvm::enumerate(shape))
    result.push_back(
        std::max<int64_t>(1, size / blocks.getOutDimSize(kDim(i))));
  return result;
}

LinearLayout layouts::fitToShape(const LinearLayout &tile,
                                 ArrayRef<int64_t> shape, StringRef inDim,
                                 ArrayRef<unsigned> order) {
  LinearLayout result = tile;
  for (unsigned i : order) {
    int32_t have = result.getOutDimSize(kDim(i));
    if (have > shape[i])
      result = result.resizeOutDim(kDim(i), shape[i]);
    else
      result *= LinearLayout::identity1D(shape[i] / have, inDim, kDim(i));
  }
  return result.transposeOuts(standardOutDimNames(shape.size()));
}

LinearLayout layouts::combineWithBlocks(const LinearLayout &tile,
                                        ArrayRef<int64_t> shape,
                                        const LinearLayout &blocks,
                                        StringRef inDim,
                                        ArrayRef<unsigned> order) {
  LinearLayout block =
      fitToShape(tile, shapePerBlock(shape, blocks), inDim, order);
  // More blocks than elements: the surplus holds copies.
  return fitToShape(block * blocks, shape, inDim, order);
}

LinearLayout layouts::gridLayout(StringRef inDim, ArrayRef<unsigned> sizes,
                                 ArrayRef<unsigned> order,
                                 std::optional<unsigned> broadcastDim) {
  LinearLayout result;
  for (unsigned i : order)
    result *= i == broadcastDim
                  ? LinearLayout::zeros1D(sizes[i], inDim, kDim(i))
                  : LinearLayout::identity1D(sizes[i], inDim, kDim(i));
  return result.transposeOuts(standardOutDimNames(sizes.size()));
}

LinearLayout layouts::matrixTile(unsigned rank, const OutBases &registers,
                                 const OutBases &lanes, bool swap) {
  auto widen = [&](const OutBases &bases) {
    OutBases result;
    for (const std::vector<int32_t> &basis : bases) {
      std::vector<int32_t> wide(rank, 0);
      wide[rank - 2] = basis[swap ? 1 : 0];
      wide[rank - 1] = basis[swap ? 0 : 1];
      result.push_back(std::move(wide));
    }
    return result;
  };
  return LinearLayout::fromBases(
      {{kRegister, widen(registers)}, {kLane, widen(lanes)}},
      standardOutDimNames(rank));
}

//===----------------------------------------------------------------------===//
// Distributed encodings that need no matrix instruction
//===----------------------------------------------------------------------===//

FailureOr<LinearLayout> layouts::blockedToLinear(ArrayRef<int64_t> shape,
                                                 BlockedEncodingAttr encoding) {
  ArrayRef<unsigned> order = encoding.getOrder();
  LinearLayout tile =
      gridLayout(kRegister, encoding.getSizePerThread(), order) *
      gridLayout(kLane, encoding.getThreadsPerWarp(), order) *
      gridLayout(kWarp, encoding.getWarpsPerCTA(), order);
  return combineWithBlocks(
      tile, shape, encoding.getCTALayout().getLinearLayout(), kRegister, order);
}

/// A thread of an FMA dot needs whole rows (columns) of its operand: all of K
/// in registers, and the threads along the other operand's dim hold the same.
FailureOr<LinearLayout>
layouts::dotOfBlockedToLinear(ArrayRef<int64_t> shape,
                              DotOperandEncodingAttr encoding,
                              EmitError emitError) {
  auto parent = cast<BlockedEncodingAttr>(encoding.getParent());
  unsigned rank = shape.size();
  if (rank < 2)
    return fail(emitError, "dot operands have at least two dimensions");
  unsigned kAxis = encoding.getOpIdx() == 0 ? rank - 1 : rank - 2;
  ArrayRef<unsigned> order = parent.getOrder();

  SmallVector<unsigned> sizePerThread(parent.getSizePerThread());
  sizePerThread[kAxis] = shape[kAxis];
  LinearLayout tile =
      gridLayout(kRegister, sizePerThread, order) *
      gridLayout(kLane, parent.getThreadsPerWarp(), order, kAxis) *
      gridLayout(kWarp, parent.getWarpsPerCTA(), order, kAxis);
  LinearLayout blocks = parent.getCTALayout().getLinearLayout();
  return combineWithBlocks(tile, shape, blocks.resizeOutDim(kDim(kAxis), 1),
                           kRegister, order);
}

static FailureOr<LinearLayout> linearToLinear(ArrayRef<int64_t> shape,
                                              LinearEncodingAttr encoding) {
  LinearLayout layout = encoding.getLinearLayout();
  // What a broadcast adds takes the place of copies that threads keep. Beside
  // them, a layout would grow with each iteration of a loop that takes some of
  // a tensor and broadcasts it again.
  bool grows = llvm::any_of(llvm::seq<unsigned>(shape.size()), [&](unsigned i) {
    return layout.getOutDimSize(kDim(i)) < shape[i];
  });
  if (grows)
    layout = layout.removeZeroBasesAlongDim(kRegister);
  return fitToShape(layout, shape, kRegister, rowMajorOrder(shape.size()));
}

static FailureOr<LinearLayout> sliceToLinear(ArrayRef<int64_t> shape,
                                             SliceEncodingAttr encoding,
                                             EmitError emitError) {
  unsigned dim = encoding.getDim(), rank = shape.size();
  FailureOr<LinearLayout> parent = tryToLinearLayout(
      encoding.paddedShape(shape), encoding.getParent(), emitError);
  if (failed(parent))
    return failure();
  LinearLayout result = parent->removeOutDim(kDim(dim));
  for (unsigned i = dim; i < rank; ++i)
    result = result.renameOutDim(kDim(i + 1), kDim(i));
  // Threads and warps along the sliced dim keep copies because they exist
  // anyway; there is no reason for a thread to keep several.
  return result.removeZeroBasesAlongDim(kRegister);
}

static FailureOr<LinearLayout>
dotOperandToLinear(ArrayRef<int64_t> shape, DotOperandEncodingAttr encoding,
                   EmitError emitError) {
  return llvm::TypeSwitch<Attribute, FailureOr<LinearLayout>>(
             encoding.getParent())
      .Case([&](BlockedEncodingAttr) {
        return dotOfBlockedToLinear(shape, encoding, emitError);
      })
      .Case([&](MmaEncodingTrait parent) {
        return parent.getOperandLayout(shape, encoding.getOpIdx(),
                                       encoding.getKWidth(), emitError);
      })
      .Default([&](Attribute parent) {
        std::string text;
        llvm::raw_string_ostream(text) << parent;
        return fail(emitError, "dot operands of parent " + Twine(text) +
                                   " have no linear layout");
      });
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Every layout ends with the same in dims, whatever its parts were.
static LinearLayout withStandardInDims(LinearLayout layout,
                                       ArrayRef<StringRef> names) {
  for (StringRef name : names)
    if (!layout.hasInDim(name))
      layout = layout.unsqueezeIn(name);
  return layout.transposeIns(names);
}

static FailureOr<LinearLayout> makeLinearLayout(ArrayRef<int64_t> shape,
                                                Attribute encoding,
                                                EmitError emitError) {
  auto layoutEncoding = dyn_cast_or_null<LayoutEncodingTrait>(encoding);
  if (!layoutEncoding)
    return fail(emitError, "this encoding has no linear layout");
  if (layoutEncoding.getRank() != shape.size())
    return fail(emitError,
                "encoding of rank " + Twine(layoutEncoding.getRank()) +
                    " does not fit a shape of rank " + Twine(shape.size()));
  for (int64_t size : shape)
    if (size <= 0 || !llvm::isPowerOf2_64(size) || size > (int64_t(1) << 30))
      return fail(emitError, "layouts need dimensions that are powers of two, "
                             "but one has size " +
                                 Twine(size));

  bool isShared = isa<SharedEncodingTrait>(encoding);
  FailureOr<LinearLayout> layout =
      llvm::TypeSwitch<Attribute, FailureOr<LinearLayout>>(encoding)
          .Case(
              [&](BlockedEncodingAttr a) { return blockedToLinear(shape, a); })
          .Case([&](LinearEncodingAttr a) { return linearToLinear(shape, a); })
          .Case([&](SliceEncodingAttr a) {
            return sliceToLinear(shape, a, emitError);
          })
          .Case([&](DotOperandEncodingAttr a) {
            return dotOperandToLinear(shape, a, emitError);
          })
          .Case([&](MmaEncodingTrait a) {
            return a.getAccumulatorLayout(shape, emitError);
          })
          .Default([&](Attribute a) -> FailureOr<LinearLayout> {
            if (isShared)
              return sharedToLinear(shape, a, emitError);
            return fail(emitError, "this encoding has no linear layout");
          });
  if (failed(layout))
    return failure();
  if (isShared)
    return withStandardInDims(*layout, {kOffset, kBlock});
  return withStandardInDims(*layout, {kRegister, kLane, kWarp, kBlock});
}

FailureOr<LinearLayout>
gpu::tryToLinearLayout(ArrayRef<int64_t> shape, Attribute encoding,
                       function_ref<InFlightDiagnostic()> emitError) {
  if (!encoding)
    return makeLinearLayout(shape, encoding, emitError);
  const auto *cache = encoding.getContext()
                          ->getLoadedDialect<TritonGPUDialect>()
                          ->getRegisteredInterface<LayoutCache>();
  if (std::optional<LinearLayout> known = cache->find(shape, encoding))
    return *known;
  FailureOr<LinearLayout> layout = makeLinearLayout(shape, encoding, emitError);
  if (succeeded(layout))
    cache->add(shape, encoding, *layout);
  return layout;
}

LinearLayout gpu::toLinearLayout(ArrayRef<int64_t> shape, Attribute encoding) {
  FailureOr<LinearLayout> layout = tryToLinearLayout(shape, encoding);
  if (succeeded(layout))
    return *layout;
  // Types are verified before anybody asks, so this is a bug of the caller.
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "no linear layout for shape [";
  llvm::interleaveComma(shape, os);
  os << "] with encoding " << encoding;
  llvm::report_fatal_error(Twine(text));
}

LinearLayout gpu::toLinearLayout(RankedTensorType type) {
  return toLinearLayout(type.getShape(), type.getEncoding());
}

LinearLayout gpu::toLinearLayout(MemDescType type) {
  unsigned rank = cast<LayoutEncodingTrait>(type.getEncoding()).getRank();
  ArrayRef<int64_t> shape = type.getAllocShape();
  if (shape.size() < rank)
    shape = type.getShape();
  return toLinearLayout(shape.take_back(rank), type.getEncoding());
}

LogicalResult gpu::checkTensorsHaveLayouts(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    auto check = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || isa_and_nonnull<LayoutEncodingTrait>(tensor.getEncoding()))
        return WalkResult::advance();
      op->emitError("expected every tensor to have a layout, found ") << tensor;
      return WalkResult::interrupt();
    };
    for (Type type :
         llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (check(type).wasInterrupted())
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          if (check(type).wasInterrupted())
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
