//===-- AsyncSharedStoreToLLVM.cpp - st.async -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every thread writes its elements. The bytes are counted by the barrier of the
// block that they come to.
//
//===----------------------------------------------------------------------===//

#include "nvidia/TargetTable.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/AsyncSharedStore.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/PTXAsm.h"
#include "nvidia/TritonNVIDIAGPUToLLVM/Words.h"

#include "tile/Dialect/TritonGPU/IR/LinearLayoutConversions.h"
#include "tile/Dialect/TritonGPU/IR/SharedPlaces.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/AsyncStoreOps.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/ClusterBarriers.h"

using namespace mlir;
using namespace mlir::triton;
namespace nvt = mlir::triton::nvidia;
namespace ttg = mlir::triton::gpu;
namespace ttng = mlir::triton::nvidia_gpu;

namespace {
struct AsyncSharedStorePattern : TargetPattern<ttng::AsyncSharedStoreOp> {
  AsyncSharedStorePattern(const LoweringContext &context,
                          const nvt::TargetInfo &target)
      : TargetPattern(context.converter, target, context.benefit),
        facts(target.getFacts()) {}
  LogicalResult
  matchAndRewrite(ttng::AsyncSharedStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!facts.hasTMA)
      return this->decline(op, "st.async needs sm_90 or later");
    // An H200 stops a program without a cluster here: "illegal instruction".
    if (ttg::lookupNumCTAs(op) == 1)
      return this->decline(op, "st.async is for clusters of more than one "
                               "block, and num_ctas is 1");
    LLVMBuilder b(op.getLoc(), rewriter);
    auto memory = cast<ttg::MemDescType>(op.getDst().getType());
    auto source = cast<RankedTensorType>(op.getValue().getType());
    if (ttg::missesCopies(source, memory))
      return this->decline(op, "blocks of the cluster hold parts of the value, "
                               "but each is to get all of it");
    SmallVector<Value> values = unpackElements(b, adaptor.getValue(), source);
    MemDesc desc = MemDesc::unpack(b, adaptor.getDst(), memory);
    SharedAccess access = makeSharedAccess(b, target, desc, memory, source,
                                           values.front().getType());
    bool remote = access.isRemote();
    for (ArrayRef<int32_t> registers : access.getVectors())
      if (nvt::getWordShape(access.element, registers.size()).memoryBits < 32)
        return this->decline(op, "threads hold fewer than four neighbouring "
                                 "bytes, which is what st.async writes");

    if (ttng::getSharedBlockBits(op.getBarrier().getType()))
      return this->decline(op, "the bytes arrive at the block that they come "
                               "to: each must have a barrier of its own");
    ThreadIndex thread = getThreadIndex(b, target, op);
    Value owner = access.emitOwner(b, thread);
    Value barrier =
        nvt::getBufferAddress(b, adaptor.getBarrier(), op.getBarrier());
    access.forEachVector(b, thread,
                         [&](Value ptr, ArrayRef<int32_t> registers) {
                           SmallVector<Value> vector;
                           for (int32_t r : registers)
                             vector.push_back(values[r]);
                           emitStore(b, ptr, vector, barrier, owner, remote);
                         });
    rewriter.eraseOp(op);
    return success();
  }

private:
  static void emitStore(const LLVMBuilder &b, Value ptr, ArrayRef<Value> values,
                        Value barrier, Value owner, bool remote) {
    nvt::WordShape shape =
        nvt::getWordShape(values.front().getType(), values.size());
    nvt::PTXAsm ptx(b);
    auto to = ptx.input(ptr, "r");
    auto at = ptx.input(barrier, "r");
    SmallVector<nvt::PTXAsm::Operand> words;
    for (Value word : nvt::packWords(b, values, shape))
      words.push_back(ptx.input(word, shape.registerClass()));
    ptx << "{ ";
    if (remote)
      ptx << ".reg .b32 block, there; getctarank.shared::cluster.u32 block, "
          << to << "; mapa.shared::cluster.u32 there, " << at << ", block; ";
    if (owner)
      ptx << "@" << ptx.input(owner, "b") << " ";
    ptx << "st.async.shared::cluster.mbarrier::complete_tx::bytes"
        << nvt::getVectorSuffix(shape.count) << ".b"
        << std::to_string(shape.bits) << " [" << to << "], " << words << ", [";
    if (remote)
      ptx << "there";
    else
      ptx << at;
    ptx << "]; }";
    ptx.emit({}, nvt::PTXAsm::SideEffects);
  }

  const NVIDIATarget &facts;
};
} // namespace

void nvt::populateAsyncSharedStorePatterns(const LoweringContext &context,
                                           const TargetInfo &target) {
  context.patterns.add<AsyncSharedStorePattern>(context, target);
}
