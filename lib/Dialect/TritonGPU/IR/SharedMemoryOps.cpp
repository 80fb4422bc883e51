//===-- SharedMemoryOps.cpp - Buffers in shared memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

/// A tensor and the memory that it is copied to or from have the same shape and
/// element type.
static LogicalResult verifyCopy(Operation *op, RankedTensorType tensor,
                                MemDescType memDesc) {
  if (tensor.getShape() != memDesc.getShape())
    return op->emitOpError()
           << "expected a tensor of shape [" << memDesc.getShape()
           << "], like the memory, found [" << tensor.getShape() << "]";
  if (tensor.getElementType() != memDesc.getElementType())
    return op->emitOpError()
           << "expected a tensor with elements of type "
           << memDesc.getElementType() << ", like the memory, found "
           << tensor.getElementType();
  return success();
}

static LogicalResult verifySharedMemory(Operation *op, MemDescType type) {
  if (!isa<SharedMemorySpaceAttr>(type.getMemorySpace()))
    return op->emitOpError() << "expected memory in "
                             << SharedMemorySpaceAttr::get(op->getContext())
                             << ", found " << type.getMemorySpace();
  if (!isa<SharedEncodingTrait>(type.getEncoding()))
    return op->emitOpError() << "expected an encoding of shared memory, found "
                             << type.getEncoding();
  // Each block of a cluster has a memory of its own, of which the encoding says
  // what is there.
  unsigned numCTAs = lookupNumCTAs(op);
  if (numCTAs > 1 && getNumCTAs(type.getEncoding()) != numCTAs)
    return op->emitOpError()
           << "expected an encoding for " << numCTAs << " blocks ('"
           << kNumCTAsAttrName << "'), found one for "
           << getNumCTAs(type.getEncoding()) << ": " << type.getEncoding();
  return success();
}

/// Whether the encoding can lay out the buffer, or each one of an array.
static LogicalResult verifyLayout(Operation *op, MemDescType type) {
  Attribute encoding = type.getEncoding();
  // Pieces of a tensor have no common address.
  if (isa<PartitionedSharedEncodingAttr>(encoding))
    return success();
  unsigned rank = cast<LayoutEncodingTrait>(encoding).getRank();
  return tryToLinearLayout(type.getAllocShape().take_back(rank), encoding,
                           [&] { return op->emitOpError(); });
}

//===----------------------------------------------------------------------===//
// LocalAllocOp
//===----------------------------------------------------------------------===//

void LocalAllocOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getOpResult(0), SharedMemory::get());
  if (getSrc())
    effects.emplace_back(MemoryEffects::Write::get(),
                         getOperation()->getOpResult(0), SharedMemory::get());
}

int32_t LocalAllocOp::getAlignmentOrDefault() {
  if (std::optional<uint32_t> alignment = getAlignment())
    return *alignment;
  if (auto shared = dyn_cast<SharedEncodingTrait>(getType().getEncoding()))
    return shared.getAlignment();
  return 16;
}

OpFoldResult LocalAllocOp::fold(FoldAdaptor adaptor) {
  // A copy, made to be read only, of memory that is only read.
  if (getType().getMutableMemory() || !getSrc())
    return {};
  auto load = getSrc().getDefiningOp<LocalLoadOp>();
  if (!load || load.getToken() || load.getSrc().getType() != getType())
    return {};
  return load.getSrc();
}

LayoutRole LocalAllocOp::getLayoutRole() { return LayoutRole::Neutral; }
/// Whether it does not matter which thread has which element: among the blocks
/// of a cluster it does, as each writes to its own memory.
static bool isInOneBlock(Operation *op) { return lookupNumCTAs(op) == 1; }

bool LocalAllocOp::acceptsAnyLayout(OpOperand &) { return isInOneBlock(*this); }

LogicalResult LocalAllocOp::verify() {
  MemDescType type = getType();
  if (failed(verifySharedMemory(*this, type)))
    return failure();
  if (std::optional<uint32_t> alignment = getAlignment())
    if (!llvm::isPowerOf2_32(*alignment))
      return emitOpError()
             << "expected 'alignment' to be a power of two, found "
             << *alignment;
  if (type.getAllocShape() != type.getShape())
    return emitOpError()
           << "expected a new buffer of the shape of the whole one, ["
           << type.getAllocShape() << "], found [" << type.getShape() << "]";
  if (failed(verifyLayout(*this, type)))
    return failure();
  if (!getSrc()) {
    if (!type.getMutableMemory())
      return emitOpError() << "expected a buffer without initial contents to "
                              "be mutable, found "
                           << type;
    return success();
  }
  return verifyCopy(*this, cast<RankedTensorType>(getSrc().getType()), type);
}

//===----------------------------------------------------------------------===//
// LocalDeallocOp, LocalLoadOp, LocalStoreOp
//===----------------------------------------------------------------------===//

LogicalResult LocalDeallocOp::verify() {
  return verifySharedMemory(*this, getSrc().getType());
}

LogicalResult LocalLoadOp::verify() {
  if (failed(verifySharedMemory(*this, getSrc().getType())))
    return failure();
  return verifyCopy(*this, getType(), getSrc().getType());
}

namespace {

/// What was just put into memory that nobody else can write.
struct LoadOfImmutableAlloc : public OpRewritePattern<LocalLoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LocalLoadOp op,
                                PatternRewriter &rewriter) const override {
    auto alloc = op.getSrc().getDefiningOp<LocalAllocOp>();
    if (!alloc || !alloc.getSrc() || alloc.getType().getMutableMemory())
      return rewriter.notifyMatchFailure(op, "not from an immutable buffer");
    // Between different encodings the trip through memory may be wanted: it is
    // how operands of a dot get into place once for many reads.
    if (alloc.getSrc().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the encodings differ");
    rewriter.replaceOp(op, alloc.getSrc());
    return success();
  }
};

} // namespace

void LocalLoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<LoadOfImmutableAlloc>(context);
}

LayoutRole LocalStoreOp::getLayoutRole() { return LayoutRole::Neutral; }
bool LocalStoreOp::acceptsAnyLayout(OpOperand &) { return isInOneBlock(*this); }

LogicalResult LocalStoreOp::verify() {
  MemDescType dst = getDst().getType();
  if (failed(verifySharedMemory(*this, dst)))
    return failure();
  if (!dst.getMutableMemory())
    return emitOpError() << "expected a mutable destination, found " << dst;
  return verifyCopy(*this, getSrc().getType(), dst);
}

//===----------------------------------------------------------------------===//
// GlobalScratchAllocOp
//===----------------------------------------------------------------------===//

LogicalResult GlobalScratchAllocOp::verify() {
  if (int32_t(getNbytes()) <= 0)
    return emitOpError() << "expected 'nbytes' to be a positive number, found "
                         << int32_t(getNbytes());
  if (!llvm::isPowerOf2_32(getAlignment()))
    return emitOpError() << "expected 'alignment' to be a power of two, found "
                         << int32_t(getAlignment());
  return success();
}
