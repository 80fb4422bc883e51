//===-- TMALowering.cpp - Descriptor operations to TMA copies -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProxyOrder.h"

#include "tile/Dialect/Triton/IR/HintAttributes.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMap.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/CopyEngines.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "triton-nvidia-tma-lowering"

namespace mlir::triton::nvidia_gpu {
#define GEN_PASS_DEF_TRITONNVIDIATMALOWERING
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h.inc"
} // namespace mlir::triton::nvidia_gpu

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::nvidia_gpu;

//===----------------------------------------------------------------------===//
// Buffers and barriers
//===----------------------------------------------------------------------===//

/// The type of a buffer for a tensor that is copied through a descriptor: its
/// blocks' encoding, without the leading dimensions that the tensor leaves out.
static gpu::MemDescType getBufferType(RankedTensorType tensor,
                                      gpu::NVMMASharedEncodingAttr encoding,
                                      bool isMutable) {
  gpu::CTALayoutAttr ctaLayout = encoding.getCTALayout();
  for (int64_t extra = ctaLayout.getRank() - tensor.getRank(); extra > 0;
       --extra)
    ctaLayout = ctaLayout.dropDim(0);
  // What each block of a cluster holds is up to the tensor.
  if (Attribute layout = tensor.getEncoding();
      layout && llvm::product_of(ctaLayout.getCTAsPerCGA()) > 1)
    ctaLayout = gpu::getCTALayout(layout);
  MLIRContext *context = tensor.getContext();
  auto bufferEncoding = gpu::NVMMASharedEncodingAttr::get(
      context, encoding.getSwizzlingByteWidth(), encoding.getTransposed(),
      encoding.getElementBitWidth(), encoding.getFp4Padded(), ctaLayout);
  return gpu::MemDescType::get(
      tensor.getShape(), tensor.getElementType(), bufferEncoding,
      gpu::SharedMemorySpaceAttr::get(context), isMutable);
}

/// A barrier that each block of the cluster has for itself.
static Value createBarrier(OpBuilder &builder, Location loc, int numCTAs) {
  Value barrier = gpu::LocalAllocOp::create(
      builder, loc, getBarrierType(builder.getContext(), numCTAs));
  InitBarrierOp::create(builder, loc, barrier, /*count=*/1);
  return barrier;
}

/// Bytes that arrive in one block of the cluster.
static int64_t getBytes(gpu::MemDescType type) {
  SmallVector<int64_t> shape = gpu::getShapePerCTA(type);
  return ShapedType::getNumElements(shape) * type.getElementTypeBitWidth() / 8;
}

/// Has what stores the result of `load` to shared memory only to read it there,
/// as dots do, read the buffer that it was copied to.
static void readInPlace(RewriterBase &rewriter, Operation *load, Value buffer) {
  auto type = cast<gpu::MemDescType>(buffer.getType());
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    auto alloc = dyn_cast<gpu::LocalAllocOp>(user);
    if (!alloc || alloc.getType().getMutableMemory() ||
        alloc.getType().getEncoding() != type.getEncoding())
      continue;
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(alloc);
    rewriter.replaceOpWithNewOp<gpu::MemDescReinterpretOp>(
        alloc, alloc.getType(), buffer);
  }
}

/// Replaces `load` by a copy into a new buffer, `createCopy(buffer, barrier,
/// true)`, and what waits for it and reads the buffer.
static void replaceLoad(RewriterBase &rewriter, Operation *load,
                        gpu::NVMMASharedEncodingAttr encoding,
                        function_ref<void(Value, Value, Value)> createCopy) {
  Location loc = load->getLoc();
  int numCTAs = gpu::lookupNumCTAs(load);
  auto tensor = cast<RankedTensorType>(load->getResult(0).getType());
  gpu::MemDescType type = getBufferType(tensor, encoding, /*isMutable=*/true);
  Value buffer = gpu::LocalAllocOp::create(rewriter, loc, type);
  Value barrier = createBarrier(rewriter, loc, numCTAs);
  // Before a copy for all blocks of a cluster each has its barrier, and is done
  // with what was in the buffer's place.
  if (isMulticast(type)) {
    FenceMbarrierInitReleaseClusterOp::create(rewriter, loc);
    ClusterBarrierOp::create(rewriter, loc);
  }
  Value always =
      arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
  BarrierExpectOp::create(rewriter, loc, barrier, getBytes(type), always);
  createCopy(buffer, barrier, always);
  Value phase =
      arith::ConstantOp::create(rewriter, loc, rewriter.getI32IntegerAttr(0));
  WaitBarrierOp::create(rewriter, loc, barrier, phase);
  InvalBarrierOp::create(rewriter, loc, barrier);
  readInPlace(rewriter, load, buffer);
  if (load->use_empty())
    rewriter.eraseOp(load);
  else
    rewriter.replaceOpWithNewOp<gpu::LocalLoadOp>(load, tensor, buffer);
}

/// Boxes are halves of a block's rows: gives each block of a cluster rows of
/// its own, where they hold something else.
static Value divideAlongRows(RewriterBase &rewriter, Location loc,
                             Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Attribute layout = type.getEncoding();
  Operation *parent = rewriter.getInsertionBlock()->getParentOp();
  unsigned numBlocks = gpu::lookupNumCTAs(parent);
  if (!layout || numBlocks == 1 ||
      gpu::getCTALayout(layout).getCTASplitNum().front() == numBlocks)
    return value;
  auto blocked = gpu::getDefaultBlockedEncoding(
      type.getContext(), type.getShape(), gpu::lookupNumWarps(parent),
      gpu::lookupThreadsPerWarp(parent), numBlocks);
  return gpu::ConvertLayoutOp::create(
      rewriter, loc, gpu::cloneWithEncoding(type, blocked), value);
}

namespace {
/// What a copy to global memory waits for.
struct StoreWaits {
  /// Until those before have written.
  bool forCopiesBefore;
  /// Until it has written itself, not only read its buffer.
  bool complete;
};
} // namespace

static Type getTokenType(Builder &builder) {
  return gpu::AsyncTokenType::get(builder.getContext());
}

/// Emits a copy out of a new buffer that holds `value`, by
/// `createCopy(buffer)`, and a wait for its token until the buffer has been
/// read. Copies do not wait for one another: what the ones before write is
/// there first.
static void createStore(RewriterBase &rewriter, Location loc, Value value,
                        gpu::NVMMASharedEncodingAttr encoding, StoreWaits waits,
                        function_ref<Value(Value)> createCopy) {
  // The copy reads shared memory: it does not matter who wrote which element.
  // Blocks of a cluster write what they hold.
  auto getDivision = [](Value tensor) {
    Attribute layout = cast<RankedTensorType>(tensor.getType()).getEncoding();
    return layout ? gpu::getCTALayout(layout) : gpu::CTALayoutAttr();
  };
  while (auto convert = value.getDefiningOp<gpu::ConvertLayoutOp>()) {
    if (getDivision(convert.getSrc()) != getDivision(value))
      break;
    value = convert.getSrc();
  }
  value = divideAlongRows(rewriter, loc, value);
  gpu::MemDescType type =
      getBufferType(cast<RankedTensorType>(value.getType()), encoding,
                    /*isMutable=*/false);
  Value buffer = gpu::LocalAllocOp::create(rewriter, loc, type, value);
  FenceAsyncSharedOp::create(rewriter, loc, /*bCluster=*/false);
  if (waits.forCopiesBefore)
    AsyncTMAStoreWaitOp::create(rewriter, loc, /*pendings=*/0,
                                /*complete=*/true);
  Value token = createCopy(buffer);
  AsyncTMAStoreWaitOp::create(rewriter, loc, token, /*pendings=*/0,
                              waits.complete);
}

/// The block that runs in place of the one of `op`, if that is a branch.
static Block *getOtherBranch(Operation *op) {
  auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
  if (!branch || !branch.elseBlock())
    return nullptr;
  return op->getBlock() == branch.thenBlock() ? branch.elseBlock()
                                              : branch.thenBlock();
}

/// Has all threads wait in front of `block` until the copies before have
/// written. That is where only what this block does could see them: other
/// blocks, which may run more often, need not wait.
static void waitForCopiesBefore(Block *block) {
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  Location loc = block->getParentOp()->getLoc();
  AsyncTMAStoreWaitOp::create(builder, loc, /*pendings=*/0, /*complete=*/true);
  gpu::BarrierOp::create(
      builder, loc, gpu::AddrSpace::GlobalRead | gpu::AddrSpace::GlobalWrite);
}

/// Has the partitions that capture `desc` acquire its map: each thread does
/// that for itself.
static void acquireInPartitions(Value desc, Value map) {
  SmallVector<gpu::WarpSpecializeOp> users;
  for (Operation *user : desc.getUsers())
    if (auto specialize = dyn_cast<gpu::WarpSpecializeOp>(user))
      users.push_back(specialize);
  for (gpu::WarpSpecializeOp specialize : users) {
    specialize->insertOperands(specialize->getNumOperands(), map);
    for (Region &partition : specialize.getPartitionRegions()) {
      Value mine = partition.addArgument(map.getType(), map.getLoc());
      OpBuilder builder = OpBuilder::atBlockBegin(&partition.front());
      TensormapFenceproxyAcquireOp::create(builder, map.getLoc(), mine);
    }
  }
}

Value nvidia_gpu::distributeRows(OpBuilder &builder, Location loc, Value rows) {
  auto type = cast<RankedTensorType>(rows.getType());
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  unsigned numWarps = gpu::lookupNumWarps(parent);
  unsigned numLanes = gpu::lookupThreadsPerWarp(parent);
  auto ctaLayout =
      type.getEncoding()
          ? gpu::getCTALayout(type.getEncoding()).insertDim(0)
          : gpu::CTALayoutAttr::getDefault(type.getContext(), /*rank=*/2);
  auto grid = gpu::BlockedEncodingAttr::get(
      type.getContext(), /*sizePerThread=*/ArrayRef<unsigned>{1, 4},
      /*threadsPerWarp=*/ArrayRef<unsigned>{numLanes, 1},
      /*warpsPerCTA=*/ArrayRef<unsigned>{1, numWarps},
      /*order=*/ArrayRef<unsigned>{1, 0}, ctaLayout);
  auto encoding =
      gpu::SliceEncodingAttr::get(type.getContext(), /*dim=*/0, grid);
  if (type.getEncoding() == encoding)
    return rows;
  return gpu::ConvertLayoutOp::create(
      builder, loc, gpu::cloneWithEncoding(type, encoding), rows);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class TMALoweringPass
    : public nvidia_gpu::impl::TritonNvidiaTMALoweringBase<TMALoweringPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    // Each operation is lowered once and by itself: no pattern driver is
    // needed.
    waits.clear();
    SmallVector<Operation *> worklist;
    getOperation()->walk([&](Operation *op) {
      if (isDescriptorStore(op) ||
          isa<DescriptorLoadOp, DescriptorGatherOp, MakeTensorDescOp>(op))
        worklist.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      ProxyOrder order(function);
      order.insertFences();
      llvm::SmallSetVector<Block *, 2> branches;
      function.walk([&](Operation *op) {
        if (!isDescriptorStore(op))
          return;
        bool isObserved = order.isObserved(op);
        Block *other = getOtherBranch(op);
        if (isObserved && other && !order.isObserved(op, other)) {
          branches.insert(other);
          isObserved = false;
        }
        waits[op] = {order.followsCopies(op), isObserved};
      });
      llvm::for_each(branches, waitForCopiesBefore);
      order.noteAssumptions();
    }
    for (Operation *op : worklist) {
      LDBG() << "lower " << *op;
      rewriter.setInsertionPoint(op);
      auto lowerOp = [&](auto op) { return lower(op, rewriter); };
      LogicalResult result =
          llvm::TypeSwitch<Operation *, LogicalResult>(op)
              .Case<DescriptorLoadOp, DescriptorGatherOp, DescriptorStoreOp,
                    DescriptorReduceOp, DescriptorScatterOp, MakeTensorDescOp>(
                  lowerOp);
      if (failed(result))
        return signalPassFailure();
    }
  }

private:
  template <typename OpTy>
  static FailureOr<gpu::NVMMASharedEncodingAttr> getEncoding(OpTy op) {
    return getTMAEncoding(op.getDesc().getType(),
                          [&] { return op.emitOpError(); });
  }

  LogicalResult lower(DescriptorLoadOp op, RewriterBase &rewriter);
  LogicalResult lower(DescriptorGatherOp op, RewriterBase &rewriter);
  LogicalResult lower(DescriptorStoreOp op, RewriterBase &rewriter);
  LogicalResult lower(DescriptorReduceOp op, RewriterBase &rewriter);
  LogicalResult lower(DescriptorScatterOp op, RewriterBase &rewriter);
  LogicalResult lower(MakeTensorDescOp op, RewriterBase &rewriter);

  /// Of each store, before any is lowered.
  DenseMap<Operation *, StoreWaits> waits;
};

} // namespace

LogicalResult TMALoweringPass::lower(DescriptorLoadOp op,
                                     RewriterBase &rewriter) {
  auto encoding = getEncoding(op);
  if (failed(encoding))
    return failure();
  replaceLoad(rewriter, op, *encoding,
              [&](Value buffer, Value barrier, Value always) {
                AsyncTMACopyGlobalToLocalOp::create(
                    rewriter, op.getLoc(), op.getDesc(), op.getIndices(),
                    /*offsets=*/ValueRange(), barrier, buffer, always,
                    isMulticast(cast<gpu::MemDescType>(buffer.getType())),
                    op.getCache(), op.getEvict(), /*isVolatile=*/false);
              });
  ++numLoads;
  return success();
}

LogicalResult TMALoweringPass::lower(DescriptorGatherOp op,
                                     RewriterBase &rewriter) {
  auto encoding = getEncoding(op);
  if (failed(encoding))
    return failure();
  Value rows = distributeRows(rewriter, op.getLoc(), op.getXOffsets());
  replaceLoad(
      rewriter, op, *encoding, [&](Value buffer, Value barrier, Value always) {
        AsyncTMAGatherOp::create(rewriter, op.getLoc(), op.getDesc(), rows,
                                 op.getYOffset(), barrier, buffer, always);
      });
  ++numLoads;
  return success();
}

LogicalResult TMALoweringPass::lower(DescriptorStoreOp op,
                                     RewriterBase &rewriter) {
  auto encoding = getEncoding(op);
  if (failed(encoding))
    return failure();
  createStore(rewriter, op.getLoc(), op.getSrc(), *encoding, waits.at(op),
              [&](Value buffer) {
                auto copy = AsyncTMACopyLocalToGlobalOp::create(
                    rewriter, op.getLoc(), getTokenType(rewriter), op.getDesc(),
                    op.getIndices(), buffer);
                copyEviction(op, copy);
                return copy.getToken();
              });
  rewriter.eraseOp(op);
  ++numStores;
  return success();
}

LogicalResult TMALoweringPass::lower(DescriptorReduceOp op,
                                     RewriterBase &rewriter) {
  auto encoding = getEncoding(op);
  if (failed(encoding))
    return failure();
  createStore(rewriter, op.getLoc(), op.getSrc(), *encoding, waits.at(op),
              [&](Value buffer) {
                auto copy = AsyncTMAReduceOp::create(
                    rewriter, op.getLoc(), getTokenType(rewriter), op.getKind(),
                    op.getDesc(), op.getIndices(), buffer);
                copyEviction(op, copy);
                return copy.getToken();
              });
  rewriter.eraseOp(op);
  ++numStores;
  return success();
}

LogicalResult TMALoweringPass::lower(DescriptorScatterOp op,
                                     RewriterBase &rewriter) {
  auto encoding = getEncoding(op);
  if (failed(encoding))
    return failure();
  Value rows = distributeRows(rewriter, op.getLoc(), op.getXOffsets());
  createStore(rewriter, op.getLoc(), op.getSrc(), *encoding, waits.at(op),
              [&](Value buffer) {
                return AsyncTMAScatterOp::create(
                           rewriter, op.getLoc(), getTokenType(rewriter),
                           op.getDesc(), rows, op.getYOffset(), buffer)
                    .getToken();
              });
  rewriter.eraseOp(op);
  ++numStores;
  return success();
}

LogicalResult TMALoweringPass::lower(MakeTensorDescOp op,
                                     RewriterBase &rewriter) {
  // Where other warps copy, those that compute may have no use for it.
  if (op->use_empty()) {
    rewriter.eraseOp(op);
    return success();
  }
  TensorDescType type = op.getResult().getType();
  RankedTensorType block = type.getBlockType();
  auto encoding = getTMAEncoding(type, [&] { return op.emitOpError(); });
  if (failed(encoding))
    return failure();
  FailureOr<int32_t> elementType = getTMAElementType(block);
  if (failed(elementType))
    return op.emitOpError()
           << "TMA cannot copy elements of " << block.getElementType();
  FailureOr<int32_t> swizzle =
      getTMASwizzleMode(encoding->getSwizzlingByteWidth());
  if (failed(swizzle))
    return op.emitOpError() << "TMA has no swizzle of "
                            << encoding->getSwizzlingByteWidth() << " bytes";

  Location loc = op.getLoc();
  auto constant = [&](TypedAttr value) -> Value {
    return arith::ConstantOp::create(rewriter, loc, value);
  };
  constexpr int32_t kTensorMapBytes = 128;
  auto bytes = PointerType::get(rewriter.getI8Type());
  Value map = gpu::GlobalScratchAllocOp::create(rewriter, loc, bytes,
                                                /*nbytes=*/2 * kTensorMapBytes,
                                                /*alignment=*/kTensorMapBytes);

  // TMA knows no tensors without elements. Such a one becomes one padding
  // element, behind the map. Of padded 4-bit elements there are 128 at least.
  constexpr int32_t kPackedElements = 128;
  unsigned packing = getTMAPacking(block);
  bool fillNaN = op.getPadding() == PaddingOption::PAD_NAN;
  Value padding =
      AddPtrOp::create(rewriter, loc, bytes, map,
                       constant(rewriter.getI32IntegerAttr(kTensorMapBytes)));
  auto words = PointerType::get(rewriter.getI64Type());
  Value word = BitcastOp::create(rewriter, loc, words, padding),
        fill = constant(rewriter.getI64IntegerAttr(fillNaN ? -1 : 0));
  for (int32_t i = 0, e = packing > 1 ? kPackedElements / 16 : 1; i < e; ++i)
    StoreOp::create(
        rewriter, loc,
        i ? AddPtrOp::create(rewriter, loc, words, word,
                             constant(rewriter.getI32IntegerAttr(i)))
          : word,
        fill);
  FenceAsyncGlobalOp::create(rewriter, loc);
  Value one = constant(rewriter.getI32IntegerAttr(1)), isEmpty;
  for (Value size : op.getShape()) {
    Value none = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt,
                                       size, one);
    isEmpty =
        isEmpty ? arith::OrIOp::create(rewriter, loc, isEmpty, none).getResult()
                : none;
  }
  Value base = arith::SelectOp::create(
      rewriter, loc, isEmpty,
      BitcastOp::create(rewriter, loc, op.getBase().getType(), padding),
      op.getBase());

  // Tensor maps start with the innermost dimension, and have no stride for it.
  SmallVector<Value> box, elementStrides, strides;
  auto boxShape = getTMABoxShape(block);
  boxShape.back() *= packing;
  for (int64_t size : llvm::reverse(boxShape)) {
    box.push_back(constant(rewriter.getI32IntegerAttr(size)));
    elementStrides.push_back(constant(rewriter.getI32IntegerAttr(1)));
  }
  Value elementBytes =
      constant(rewriter.getI64IntegerAttr(block.getElementTypeBitWidth() / 8));
  for (Value stride : llvm::reverse(op.getStrides().drop_back()))
    strides.push_back(
        arith::MulIOp::create(rewriter, loc, stride, elementBytes));
  SmallVector<Value> shape;
  for (Value size : llvm::reverse(op.getShape())) {
    Value least = one;
    if (packing > 1 && shape.empty()) {
      Value two = constant(rewriter.getI32IntegerAttr(packing));
      size = arith::MulIOp::create(rewriter, loc, size, two);
      least = constant(rewriter.getI32IntegerAttr(kPackedElements));
    }
    shape.push_back(
        arith::SelectOp::create(rewriter, loc, isEmpty, least, size));
  }

  TensormapCreateOp::create(rewriter, loc, map, base, box, shape, strides,
                            elementStrides, *elementType,
                            /*interleave_layout=*/0, *swizzle,
                            /*fill_mode=*/fillNaN ? 1 : 0);
  TensormapFenceproxyAcquireOp::create(rewriter, loc, map);
  acquireInPartitions(op.getResult(), map);
  rewriter.replaceOpWithNewOp<ReinterpretTensorDescriptorOp>(op, type, map);
  ++numDescriptors;
  return success();
}
