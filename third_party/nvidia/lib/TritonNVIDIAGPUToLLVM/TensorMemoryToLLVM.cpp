//===-- TensorMemoryToLLVM.cpp - Buffers in tensor memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One warp allocates the columns of all buffers, which
// triton-tensor-memory-allocation has counted, and lets other blocks of the
// multiprocessor do the same. Buffers and views are additions to the address.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TritonNVIDIAGPUToLLVM/TensorMemory.h"

#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"

#include "tile/Dialect/TritonNvidiaGPU/IR/TensorMemoryLayout.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

//===----------------------------------------------------------------------===//
// The allocation of a kernel
//===----------------------------------------------------------------------===//

FailureOr<nvt::TensorMemoryUse>
nvt::TensorMemoryUse::of(ModuleOp module, const NVIDIATarget &facts) {
  TensorMemoryUse use;
  use.inPairs = ttng::usesBlockPairs(module);
  auto columns =
      module->getAttrOfType<IntegerAttr>(ttg::kTensorMemorySizeAttrName);
  if (!columns || columns.getInt() == 0)
    return use;
  if (!facts.hasTensorMemory)
    return emitError(module.getLoc(), "tensor memory needs a target that has "
                                      "it, which ")
           << facts.targetString() << " lacks";
  auto address =
      module->getAttrOfType<IntegerAttr>(ttng::kTensorMemoryAddressAttrName);
  if (!address)
    return emitError(module.getLoc(),
                     "the address of tensor memory has no place: run "
                     "-allocate-shared-memory-nv behind "
                     "-triton-tensor-memory-allocation");
  use.columns = columns.getInt();
  use.addressOffset = address.getInt();
  return use;
}

static Value getAddressPlace(const LLVMBuilder &b,
                             const nvt::TargetInfo &target,
                             const nvt::TensorMemoryUse &use) {
  Value memory = b.create<LLVM::AddressOfOp>(
      b.ptrTy(target.getSharedAddressSpace()), "global_smem");
  return b.gep(memory, b.intTy(8), use.addressOffset);
}

static Value loadAddress(const LLVMBuilder &b, const nvt::TargetInfo &target,
                         const nvt::TensorMemoryUse &use) {
  return b.create<LLVM::LoadOp>(b.intTy(32), getAddressPlace(b, target, use));
}

namespace {
class FrameEmitter {
public:
  FrameEmitter(LLVM::LLVMFuncOp kernel, const nvt::TargetInfo &target,
               const nvt::TensorMemoryUse &use)
      : kernel(kernel), target(target), use(use), builder(kernel.getContext()),
        b(kernel.getLoc(), builder) {}

  void run() {
    SmallVector<LLVM::ReturnOp> returns(
        kernel.getBody().getOps<LLVM::ReturnOp>());
    builder.setInsertionPointToStart(&kernel.getBody().front());
    Operation *first = &kernel.getBody().front().front();
    // The warps of both blocks execute the allocation together.
    if (use.inPairs)
      target.barrier(b, getThreadsOfProgram(first));
    byFirstWarp([&](nvt::PTXAsm &ptx, StringRef guard) {
      auto at = ptx.input(getAddressPlace(b, target, use), "r");
      ptx << guard << "tcgen05.alloc" << use.getGroup()
          << ".sync.aligned.shared::cta.b32 [" << at << "], "
          << std::to_string(use.columns) << "; " << guard
          << "tcgen05.relinquish_alloc_permit" << use.getGroup()
          << ".sync.aligned;";
    });
    target.barrier(b, getThreadsOfBlock(first));
    for (LLVM::ReturnOp op : returns) {
      builder.setInsertionPoint(op);
      // Nobody accesses it any more.
      if (use.inPairs)
        target.barrier(b, getThreadsOfProgram(op));
      else if (!isBehindGroups(op))
        target.barrier(b, getThreadsOfBlock(op));
      byFirstWarp([&](nvt::PTXAsm &ptx, StringRef guard) {
        auto address = ptx.input(loadAddress(b, target, use), "r");
        ptx << "tcgen05.fence::after_thread_sync; " << guard
            << "tcgen05.dealloc" << use.getGroup() << ".sync.aligned.b32 "
            << address << ", " << std::to_string(use.columns) << ";";
      });
    }
  }

private:
  /// Whether all warps have met at the end of groups of warps, and none has
  /// accessed tensor memory since then.
  static bool isBehindGroups(Operation *op) {
    while ((op = op->getPrevNode())) {
      if (isa<ttg::WarpSpecializeOp>(op))
        return true;
      auto inlined = dyn_cast<LLVM::InlineAsmOp>(op);
      if (isa<LLVM::CallOp>(op) || op->getNumRegions() ||
          (inlined && inlined.getAsmString().contains("tcgen05")))
        return false;
    }
    return false;
  }

  /// `emit` gets the guard that its instructions need.
  void byFirstWarp(function_ref<void(nvt::PTXAsm &, StringRef)> emit) {
    nvt::PTXAsm ptx(b);
    Value thread = target.getThreadId(b);
    int threadsPerWarp = ttg::lookupThreadsPerWarp(kernel);
    Value isFirst = b.ult(thread, b.i32(threadsPerWarp));
    auto guard = ptx.input(isFirst, "b");
    emit(ptx, "@$" + std::to_string(guard.number) + " ");
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }

  LLVM::LLVMFuncOp kernel;
  const nvt::TargetInfo &target;
  const nvt::TensorMemoryUse &use;
  OpBuilder builder;
  LLVMBuilder b;
};
} // namespace

void nvt::emitTensorMemoryFrames(ModuleOp module, const TargetInfo &target,
                                 const TensorMemoryUse &use) {
  if (use.columns == 0)
    return;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      FrameEmitter(function, target, use).run();
}

//===----------------------------------------------------------------------===//
// Buffers and views
//===----------------------------------------------------------------------===//

namespace {
struct AllocPattern : TargetPattern<ttng::TMEMAllocOp> {
  AllocPattern(const LoweringContext &context, const nvt::TargetInfo &target,
               const nvt::TensorMemoryUse &use)
      : TargetPattern(context.converter, target, context.benefit), nv(target),
        use(use) {}
  LogicalResult
  matchAndRewrite(ttng::TMEMAllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!nv.getFacts().hasTensorMemory)
      return decline(op, "the target has no tensor memory");
    auto column =
        op->getAttrOfType<IntegerAttr>(ttng::kTensorMemoryColumnAttrName);
    auto row = op->getAttrOfType<IntegerAttr>(ttng::kTensorMemoryRowAttrName);
    if (!column || !row || use.columns == 0)
      return decline(op, "its columns are not allocated: run "
                         "-triton-tensor-memory-allocation first");
    LLVMBuilder b(op.getLoc(), rewriter);
    Value address =
        b.add(loadAddress(b, nv, use),
              b.i32(ttng::getTensorAddress(row.getInt(), column.getInt())));
    if (op.getSrc()) {
      auto type = cast<RankedTensorType>(op.getSrc().getType());
      if (failed(nvt::storeToTensorMemory(
              b, nv, op, address, op.getResult().getType(),
              unpackElements(b, adaptor.getSrc(), type), type, /*pred=*/{})))
        return failure();
    }
    SmallVector<Value> results{address};
    if (op.getToken())
      results.push_back(b.i32(0));
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  const nvt::TargetInfo &nv;
  const nvt::TensorMemoryUse &use;
};

struct SubslicePattern : TargetPattern<ttng::TMEMSubsliceOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttng::TMEMSubsliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    LLVMBuilder b(op.getLoc(), rewriter);
    int32_t start = ttng::getTensorMemoryPartStart(op.getSrc().getType(),
                                                   op.getDim(), op.getOffset());
    rewriter.replaceOp(op, b.add(adaptor.getSrc(), b.i32(start)));
    return success();
  }
};

struct IndexPattern : TargetPattern<ttg::MemDescIndexOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::MemDescIndexOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ttg::MemDescType type = op.getSrc().getType();
    if (!ttng::isInTensorMemory(type))
      return failure();
    LLVMBuilder b(op.getLoc(), rewriter);
    Value columns =
        b.mul(adaptor.getIndex(), b.i32(ttng::getTensorMemoryPitch(type)));
    rewriter.replaceOp(op, b.add(adaptor.getSrc(), columns));
    return success();
  }
};

/// The bits in which the lanes and the columns of a view differ. All of their
/// combinations are in the view.
std::pair<int32_t, int32_t> getVaryingBits(ttg::MemDescType type) {
  LinearLayout places = ttng::getTensorMemoryPlaces(type);
  int32_t lanes = ttng::isInAllWindows(type) ? ttng::kTensorMemoryLanes - 1 : 0;
  int32_t columns = 0;
  for (unsigned dim : {0, 1})
    for (int bit = 0, end = places.getInDimSizeLog2(kDim(dim)); bit < end;
         ++bit) {
      lanes |= places.getBasis(kDim(dim), bit, ttng::kTensorLane);
      columns |= places.getBasis(kDim(dim), bit, ttng::kTensorColumn);
    }
  return {lanes, columns};
}

bool isWhole(ttg::MemDescType type) {
  return type.getShape().take_back(2) == type.getAllocShape().take_back(2);
}

/// Whether a view of type `to` that starts where `from` starts has only lanes
/// and columns of `from`. Neither takes more of them than there are.
bool liesWithin(ttg::MemDescType to, unsigned columnsOfTo,
                ttg::MemDescType from) {
  // Whole matrices take all columns from the first on. A part of the columns of
  // several blocks of rows lies in pieces.
  if (isWhole(from) && isWhole(to))
    return true;
  auto [lanes, columns] = getVaryingBits(from);
  auto [lanesOfTo, columnsOfMatrix] = getVaryingBits(to);
  int32_t varying = to.getRank() == 3 ? llvm::NextPowerOf2(columnsOfTo - 1) - 1
                                      : columnsOfMatrix;
  return (lanesOfTo & ~lanes) == 0 && (varying & ~columns) == 0;
}

struct ReinterpretPattern : TargetPattern<ttg::MemDescReinterpretOp> {
  using TargetPattern::TargetPattern;
  LogicalResult
  matchAndRewrite(ttg::MemDescReinterpretOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ttg::MemDescType from = op.getSrc().getType(), to = op.getType();
    if (!ttng::isInTensorMemory(from))
      return failure();
    auto source = ttng::getTensorMemoryFootprint(from);
    auto result = ttng::getTensorMemoryFootprint(to);
    if (failed(source) || failed(result))
      return decline(op, "no such buffer fits into tensor memory");
    if (result->lanes > source->lanes || result->columns > source->columns)
      return decline(op, "the result takes " + Twine(result->columns) +
                             " columns of " + Twine(result->lanes) +
                             " lanes, the source has " +
                             Twine(source->columns) + " columns of " +
                             Twine(source->lanes) + " lanes");
    if (!liesWithin(to, result->columns, from))
      return decline(op, "the source has its columns in pieces, one of each "
                         "block of rows, and the result would take what lies "
                         "between them");
    rewriter.replaceOp(op, adaptor.getSrc());
    return success();
  }
};
} // namespace

void nvt::populateTensorMemoryPatterns(const LoweringContext &context,
                                       const TargetInfo &target,
                                       const TensorMemoryUse &use) {
  context.patterns.add<AllocPattern>(context, target, use);
  context.add<SubslicePattern, IndexPattern, ReinterpretPattern>();
}
