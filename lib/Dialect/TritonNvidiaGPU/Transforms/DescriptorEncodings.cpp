//===-- DescriptorEncodings.cpp - Layouts of descriptors' blocks ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DescriptorEncodings.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/PackedScales.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

namespace {

/// An encoding of a buffer as one of blocks with `rank` dimensions, the leading
/// of which the buffer may lack; null if TMA cannot write such a buffer.
gpu::NVMMASharedEncodingAttr asBlockEncoding(Attribute encoding,
                                             unsigned rank) {
  auto shared = dyn_cast_or_null<gpu::NVMMASharedEncodingAttr>(encoding);
  if (!shared || shared.getTransposed())
    return {};
  gpu::CTALayoutAttr ctaLayout = shared.getCTALayout();
  while (ctaLayout.getRank() < rank)
    ctaLayout = ctaLayout.insertDim(0);
  return gpu::NVMMASharedEncodingAttr::get(
      shared.getContext(), shared.getSwizzlingByteWidth(),
      shared.getTransposed(), shared.getElementBitWidth(),
      shared.getFp4Padded(), ctaLayout);
}

/// The encoding with which a loaded block goes to shared memory, if any.
gpu::NVMMASharedEncodingAttr getWish(Value loaded, unsigned rank) {
  SmallVector<Value> worklist{loaded};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (auto alloc = dyn_cast<gpu::LocalAllocOp>(user)) {
        if (auto wish = asBlockEncoding(
                alloc.getResult().getType().getEncoding(), rank))
          return wish;
      } else if (auto convert = dyn_cast<gpu::ConvertLayoutOp>(user)) {
        worklist.push_back(convert.getResult());
      }
    }
  }
  return {};
}

/// Whether a dot takes `operand`, which has K along its rows, as 4-bit numbers
/// with padding. Those beside 8-bit ones have it, where the unit that adds in
/// tensor memory computes the dot.
bool takesPadding(DotScaledOp dot, Value operand) {
  constexpr int64_t kLeastRows = 128, kLeastColumns = 32;
  auto isFP8 = [](ScaleDotElemType format) {
    return format == ScaleDotElemType::E4M3 || format == ScaleDotElemType::E5M2;
  };
  RankedTensorType type = dot.getType();
  if (type.getRank() != 2 || !type.getElementType().isF32() ||
      type.getShape()[0] < kLeastRows || type.getShape()[1] < kLeastColumns)
    return false;
  if (operand == dot.getA())
    return dot.getAElemType() == ScaleDotElemType::E2M1 && dot.getLhsKPack() &&
           isFP8(dot.getBElemType());
  return operand == dot.getB() &&
         dot.getBElemType() == ScaleDotElemType::E2M1 && dot.getRhsKPack() &&
         isFP8(dot.getAElemType());
}

/// Whether all that uses a loaded block are dots that take it so.
bool isPaddedForProducts(Value loaded) {
  auto type = cast<RankedTensorType>(loaded.getType());
  if (type.getRank() != 2 || loaded.use_empty())
    return false;
  return llvm::all_of(loaded.getUsers(), [&](Operation *user) {
    auto dot = dyn_cast<DotScaledOp>(user);
    if (dot)
      return loaded == dot.getA() && takesPadding(dot, loaded);
    // Columns of B are rows in memory.
    auto trans = dyn_cast<TransOp>(user);
    return trans && llvm::all_of(trans->getUsers(), [&](Operation *turned) {
             auto dot = dyn_cast<DotScaledOp>(turned);
             return dot && trans.getResult() == dot.getB() &&
                    takesPadding(dot, trans.getResult());
           });
  });
}

/// The scales of a dot that a block is, if all that uses it are such dots,
/// which the unit that adds in tensor memory computes.
std::optional<PackedScales> findPackedScalesOf(DescriptorLoadOp load) {
  constexpr int64_t kLeastRows = 128;
  std::optional<PackedScales> packed;
  SmallVector<Value> worklist{load.getResult()};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<ReshapeOp, TransOp>(user)) {
        worklist.push_back(user->getResult(0));
        continue;
      }
      auto dot = dyn_cast<DotScaledOp>(user);
      if (!dot || (value != dot.getAScale() && value != dot.getBScale()) ||
          dot.getType().getRank() != 2 ||
          dot.getType().getShape()[0] < kLeastRows)
        return std::nullopt;
      packed = findPackedScales(value);
      if (!packed)
        return std::nullopt;
    }
  }
  return packed;
}

/// Whether rows of the block fill the swizzle.
bool fits(gpu::NVMMASharedEncodingAttr encoding, RankedTensorType block) {
  if (encoding.getRank() != unsigned(block.getRank()) ||
      encoding.getElementBitWidth() != block.getElementTypeBitWidth())
    return false;
  int64_t columns = gpu::getShapePerCTA(encoding, block.getShape()).back();
  if (encoding.getFp4Padded())
    columns *= 2;
  return columns * block.getElementTypeBitWidth() / 8 >=
         encoding.getSwizzlingByteWidth();
}

/// The encoding of 4-bit numbers with padding; null if not all that uses the
/// blocks takes it, or if rows are shorter than what TMA copies.
Attribute getPadded(RankedTensorType block, ArrayRef<Operation *> users,
                    unsigned numCTAs) {
  constexpr unsigned kPaddedSwizzle = 128;
  if (numCTAs > 1 || block.getRank() != 2 ||
      !block.getElementType().isInteger(8))
    return {};
  bool isLoaded = false;
  for (Operation *user : users)
    if (auto load = dyn_cast<DescriptorLoadOp>(user)) {
      isLoaded = true;
      if (!isPaddedForProducts(load.getResult()))
        return {};
    }
  if (!isLoaded)
    return {};
  MLIRContext *context = block.getContext();
  auto encoding = gpu::NVMMASharedEncodingAttr::get(
      context, block.getShape(), /*order=*/ArrayRef<unsigned>{1, 0},
      gpu::CTALayoutAttr::getDefault(context, /*rank=*/2),
      block.getElementType(), /*fp4Padded=*/true);
  if (encoding.getSwizzlingByteWidth() != kPaddedSwizzle ||
      !fits(encoding, block))
    return {};
  return encoding;
}

/// The encoding of blocks of scales that are packed as tensor memory takes
/// them; null if some block is loaded for something else.
Attribute getEncodingOfScales(ArrayRef<Operation *> users, unsigned numCTAs) {
  if (numCTAs > 1)
    return {};
  std::optional<PackedScales> packed;
  for (Operation *user : users)
    if (auto load = dyn_cast<DescriptorLoadOp>(user)) {
      packed = findPackedScalesOf(load);
      // Blocks may have leading dimensions that what is loaded lacks.
      if (!packed || load.getType().getRank() !=
                         load.getDesc().getType().getBlockType().getRank())
        return {};
    }
  if (!packed)
    return {};
  return packed->encoding;
}

} // namespace

DescriptorEncoding
nvidia_gpu::chooseDescriptorEncoding(RankedTensorType block,
                                     ArrayRef<Operation *> users,
                                     unsigned numCTAs, bool forTensorMemory) {
  // Padded 4-bit numbers are only loaded, and not by the number of a row.
  bool hasOthers = llvm::any_of(
      users,
      llvm::IsaPred<DescriptorStoreOp, DescriptorReduceOp, DescriptorGatherOp,
                    DescriptorScatterOp, AsyncTMACopyLocalToGlobalOp>);
  for (Operation *user : users) {
    gpu::NVMMASharedEncodingAttr wish;
    if (isa<DescriptorLoadOp, DescriptorGatherOp>(user))
      wish = getWish(user->getResult(0), block.getRank());
    else if (auto copy = dyn_cast<AsyncTMACopyGlobalToLocalOp>(user))
      wish = asBlockEncoding(copy.getResult().getType().getEncoding(),
                             block.getRank());
    else if (auto copy = dyn_cast<AsyncTMACopyLocalToGlobalOp>(user))
      wish = asBlockEncoding(copy.getSrc().getType().getEncoding(),
                             block.getRank());
    if (wish && fits(wish, block) && !(wish.getFp4Padded() && hasOthers)) {
      return {wish, true};
    }
  }
  if (forTensorMemory && !hasOthers) {
    if (Attribute padded = getPadded(block, users, numCTAs))
      return {padded, true};
    if (Attribute rows = getEncodingOfScales(users, numCTAs))
      return {rows, true};
  }
  return {getDefaultDescriptorEncoding(block, users, numCTAs), false};
}

Attribute nvidia_gpu::getDefaultDescriptorEncoding(RankedTensorType block,
                                                   ArrayRef<Operation *> users,
                                                   unsigned numCTAs) {
  MLIRContext *context = block.getContext();
  unsigned rank = block.getRank();
  SmallVector<unsigned> order(llvm::reverse(llvm::seq<unsigned>(0, rank)));
  SmallVector<int64_t> shape(block.getShape());
  gpu::CTALayoutAttr ctaLayout;
  for (Operation *user : users) {
    RankedTensorType tensor;
    if (isa<DescriptorLoadOp, DescriptorGatherOp>(user))
      tensor = cast<RankedTensorType>(user->getResult(0).getType());
    else if (auto store = dyn_cast<DescriptorStoreOp>(user))
      tensor = cast<RankedTensorType>(store.getSrc().getType());
    else if (auto reduce = dyn_cast<DescriptorReduceOp>(user))
      tensor = cast<RankedTensorType>(reduce.getSrc().getType());
    else if (auto scatter = dyn_cast<DescriptorScatterOp>(user))
      tensor = cast<RankedTensorType>(scatter.getSrc().getType());
    if (!tensor)
      continue;
    if (!ctaLayout && tensor.getEncoding()) {
      ctaLayout = gpu::getCTALayout(tensor.getEncoding());
      while (ctaLayout.getRank() < rank)
        ctaLayout = ctaLayout.insertDim(0);
    }
    // The block of a gather is one row, the buffer is as many as are
    // gathered.
    if (isa<DescriptorGatherOp, DescriptorScatterOp>(user))
      shape.front() = std::max(shape.front(), tensor.getShape().front());
  }
  if (!ctaLayout)
    ctaLayout = gpu::CTALayoutAttr::getSplit(context, numCTAs, shape, order);
  return gpu::NVMMASharedEncodingAttr::get(context, shape, order, ctaLayout,
                                           block.getElementType(),
                                           /*fp4Padded=*/false);
}
