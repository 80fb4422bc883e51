//===-- LayoutQueries.cpp - Questions about encodings ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

Attribute gpu::getEncoding(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getEncoding();
  if (auto memDesc = dyn_cast<MemDescType>(type))
    return memDesc.getEncoding();
  return {};
}

RankedTensorType gpu::cloneWithEncoding(RankedTensorType type,
                                        Attribute encoding) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               encoding);
}

BlockedEncodingAttr
gpu::getDefaultBlockedEncoding(MLIRContext *context, ArrayRef<int64_t> shape,
                               int numWarps, int threadsPerWarp, int numCTAs) {
  unsigned rank = shape.size();
  SmallVector<unsigned> sizePerThread(rank, 1), order;
  for (unsigned dim = rank; dim-- > 0;)
    order.push_back(dim);
  return BlockedEncodingAttr::get(context, shape, sizePerThread, order,
                                  unsigned(numWarps), unsigned(threadsPerWarp),
                                  unsigned(numCTAs));
}

//===----------------------------------------------------------------------===//
// Blocks of a cluster
//===----------------------------------------------------------------------===//

CTALayoutAttr gpu::getCTALayout(Attribute encoding) {
  return cast<LayoutEncodingTrait>(encoding).getCTALayout();
}

SmallVector<unsigned> gpu::getCTAsPerCGA(Attribute encoding) {
  return llvm::to_vector(getCTALayout(encoding).getCTAsPerCGA());
}

SmallVector<unsigned> gpu::getCTASplitNum(Attribute encoding) {
  return llvm::to_vector(getCTALayout(encoding).getCTASplitNum());
}

SmallVector<unsigned> gpu::getCTAOrder(Attribute encoding) {
  return llvm::to_vector(getCTALayout(encoding).getCTAOrder());
}

unsigned gpu::getNumCTAs(Attribute encoding) {
  return getCTALayout(encoding).getNumCTAs();
}

SmallVector<int64_t> gpu::getShapePerCTA(ArrayRef<unsigned> ctaSplitNum,
                                         ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  // The leading dimension of an array of buffers is not split.
  unsigned leading = shape.size() - ctaSplitNum.size();
  for (auto [size, split] :
       llvm::zip(MutableArrayRef(result).drop_front(leading), ctaSplitNum))
    size = std::max<int64_t>(1, size / split);
  return result;
}

SmallVector<int64_t> gpu::getShapePerCTA(Attribute encoding,
                                         ArrayRef<int64_t> shape) {
  return getShapePerCTA(getCTALayout(encoding).getCTASplitNum(), shape);
}

SmallVector<int64_t> gpu::getShapePerCTA(Type type) {
  auto shaped = cast<ShapedType>(type);
  Attribute encoding = getEncoding(type);
  if (!encoding)
    return llvm::to_vector(shaped.getShape());
  return getShapePerCTA(encoding, shaped.getShape());
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

/// The dims in the order in which the bases of `inDim` first reach them. A
/// basis that reaches several is a swizzle: the dim that it adds is one that
/// no basis before it has reached.
static SmallVector<unsigned> getOrderOfFirstUse(const LinearLayout &layout,
                                                StringRef inDim,
                                                ArrayRef<unsigned> rest) {
  SmallVector<unsigned> order;
  for (unsigned pos = 0; pos < layout.getInDimSizeLog2(inDim); ++pos)
    for (auto [dim, coord] : llvm::enumerate(layout.getBasis(inDim, pos)))
      if (coord != 0 && !llvm::is_contained(order, dim))
        order.push_back(dim);
  for (unsigned dim : rest)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  return order;
}

SmallVector<unsigned> gpu::getOrder(Attribute encoding,
                                    ArrayRef<int64_t> shape) {
  return cast<DistributedEncodingTrait>(encoding).getDefaultOrder();
}

SmallVector<unsigned> gpu::getOrder(RankedTensorType type) {
  return getOrder(type.getEncoding(), type.getShape());
}

SmallVector<unsigned> gpu::getOrder(MemDescType type) {
  SmallVector<unsigned> rest;
  for (unsigned dim = cast<LayoutEncodingTrait>(type.getEncoding()).getRank();
       dim-- > 0;)
    rest.push_back(dim);
  return getOrderOfFirstUse(toLinearLayout(type), kOffset, rest);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

unsigned gpu::getTotalElemsPerThread(Attribute encoding,
                                     ArrayRef<int64_t> shape) {
  return toLinearLayout(shape, encoding).getInDimSize(kRegister);
}

unsigned gpu::getTotalElemsPerThread(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 1;
  return getTotalElemsPerThread(tensor.getEncoding(), tensor.getShape());
}

/// For each dim, the number of different coordinates that the indices of
/// `inDim` reach.
static SmallVector<unsigned> countCoordinates(const LinearLayout &layout,
                                              StringRef inDim) {
  SmallVector<unsigned> counts;
  for (unsigned dim = 0; dim < layout.getNumOutDims(); ++dim) {
    // Gaussian elimination over the bits of the coordinates.
    SmallVector<int32_t> independent;
    for (unsigned pos = 0; pos < layout.getInDimSizeLog2(inDim); ++pos) {
      int32_t coord = layout.getBasis(inDim, pos)[dim];
      for (int32_t other : independent)
        coord = std::min(coord, coord ^ other);
      if (coord != 0)
        independent.push_back(coord);
    }
    counts.push_back(1u << independent.size());
  }
  return counts;
}

SmallVector<unsigned> gpu::getElemsPerThread(RankedTensorType type) {
  return countCoordinates(toLinearLayout(type), kRegister);
}

SmallVector<unsigned> gpu::getThreadsPerWarp(Attribute encoding,
                                             ArrayRef<int64_t> shape) {
  return countCoordinates(toLinearLayout(shape, encoding), kLane);
}

SmallVector<unsigned> gpu::getWarpsPerCTA(Attribute encoding,
                                          ArrayRef<int64_t> shape) {
  return countCoordinates(toLinearLayout(shape, encoding), kWarp);
}

SmallVector<unsigned> gpu::getThreadsPerWarp(RankedTensorType type) {
  return getThreadsPerWarp(type.getEncoding(), type.getShape());
}

SmallVector<unsigned> gpu::getWarpsPerCTA(RankedTensorType type) {
  return getWarpsPerCTA(type.getEncoding(), type.getShape());
}

SmallVector<unsigned> gpu::getContigPerThread(RankedTensorType type) {
  LinearLayout layout = toLinearLayout(type);
  unsigned numRegisterBits = layout.getInDimSizeLog2(kRegister);
  SmallVector<unsigned> contiguous(type.getRank(), 1);
  for (unsigned dim = 0; dim < contiguous.size(); ++dim) {
    // A step of `contiguous[dim]` along this dim and no other.
    auto isNextStep = [&](unsigned pos) {
      SmallVector<int32_t, 4> basis = layout.getBasis(kRegister, pos);
      for (auto [i, coord] : llvm::enumerate(basis))
        if (coord != (i == dim ? int32_t(contiguous[dim]) : 0))
          return false;
      return true;
    };
    while (llvm::any_of(llvm::seq(numRegisterBits), isNextStep))
      contiguous[dim] *= 2;
    // A lane (say) whose step is no multiple of the run would start its own run
    // in the middle of another, where a vector is not aligned. The registers
    // that make up the run are exempt.
    for (const auto &[inDim, bases] : layout.getBases()) {
      for (const std::vector<int32_t> &basis : bases) {
        bool isPlainStep = inDim == kRegister &&
                           llvm::isPowerOf2_32(basis[dim]) &&
                           llvm::count(basis, 0) == int64_t(basis.size()) - 1;
        if (basis[dim] != 0 && !isPlainStep)
          contiguous[dim] =
              std::min<unsigned>(contiguous[dim], basis[dim] & -basis[dim]);
      }
    }
  }
  return contiguous;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

bool gpu::areLayoutsEquivalent(ArrayRef<int64_t> shape, Attribute lhs,
                               Attribute rhs) {
  if (lhs == rhs)
    return true;
  if (!lhs || !rhs)
    return false;
  FailureOr<LinearLayout> left = tryToLinearLayout(shape, lhs);
  FailureOr<LinearLayout> right = tryToLinearLayout(shape, rhs);
  return succeeded(left) && succeeded(right) && *left == *right;
}

//===----------------------------------------------------------------------===//
// Names for linear layouts
//===----------------------------------------------------------------------===//

/// A blocked encoding that means `layout`, if there is one. The sizes are read
/// off the bases, which leaves a choice where bases are zero; the result is
/// compared with the layout, so a wrong guess only costs the name.
static BlockedEncodingAttr matchBlocked(MLIRContext *context,
                                        ArrayRef<int64_t> shape,
                                        const LinearLayout &layout) {
  unsigned rank = shape.size();
  SmallVector<unsigned> lanes(rank, 1), warps(rank, 1), order;
  SmallVector<int64_t> firstStep(shape);

  /// Multiplies the size of the dim that each basis steps along.
  auto countBases = [&](StringRef inDim, SmallVector<unsigned> &sizes) {
    std::optional<unsigned> previous;
    for (unsigned pos = 0; pos < layout.getInDimSizeLog2(inDim); ++pos) {
      SmallVector<int32_t, 4> basis = layout.getBasis(inDim, pos);
      std::optional<unsigned> dim;
      for (auto [i, coord] : llvm::enumerate(basis)) {
        if (coord == 0)
          continue;
        if (dim)
          return false;
        dim = i;
      }
      if (dim) {
        firstStep[*dim] = std::min<int64_t>(firstStep[*dim], basis[*dim]);
        if (!llvm::is_contained(order, *dim))
          order.push_back(*dim);
        previous = dim;
      }
      // A zero basis wraps around the dim that the ones before it have filled,
      // else around the slowest.
      sizes[previous ? *previous : (order.empty() ? 0 : order.back())] *= 2;
    }
    return true;
  };

  // Registers come first in the order of dims, but only those below the first
  // step of a lane or warp belong to the thread's block.
  SmallVector<unsigned> registers(rank, 1), registerOrder;
  if (!countBases(kRegister, registers))
    return {};
  registerOrder = order;
  firstStep.assign(shape.begin(), shape.end());
  if (!countBases(kLane, lanes) || !countBases(kWarp, warps))
    return {};
  SmallVector<unsigned> sizePerThread;
  for (unsigned dim = 0; dim < rank; ++dim)
    sizePerThread.push_back(firstStep[dim]);
  for (unsigned dim = rank; dim-- > 0;)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);

  CTALayoutAttr ctaLayout =
      LinearEncodingAttr::get(context, layout).getCTALayout();
  for (unsigned dim = 0; dim < rank; ++dim)
    sizePerThread[dim] = std::max<unsigned>(
        1, std::min<int64_t>(sizePerThread[dim],
                             shape[dim] / ctaLayout.getCTASplitNum()[dim]));
  auto blocked = BlockedEncodingAttr::get(context, sizePerThread, lanes, warps,
                                          order, ctaLayout);
  FailureOr<LinearLayout> meaning = tryToLinearLayout(shape, blocked);
  if (failed(meaning) || *meaning != layout)
    return {};
  return blocked;
}

Attribute gpu::nameLinearLayout(MLIRContext *context, ArrayRef<int64_t> shape,
                                const LinearLayout &layout, Attribute hint) {
  if (hint) {
    FailureOr<LinearLayout> meaning = tryToLinearLayout(shape, hint);
    if (succeeded(meaning) && *meaning == layout)
      return hint;
  }
  if (BlockedEncodingAttr blocked = matchBlocked(context, shape, layout))
    return blocked;
  return LinearEncodingAttr::get(context, layout);
}
