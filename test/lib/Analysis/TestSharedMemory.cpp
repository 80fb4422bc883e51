//===-- TestSharedMemory.cpp - Print aliases and allocation ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestPasses.h"

#include "tile/Analysis/Alias.h"
#include "tile/Analysis/Allocation.h"
#include "tile/Analysis/Membar.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"
#include "tile/Dialect/TritonNvidiaGPU/Transforms/Passes.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include <string>

using namespace mlir;
using namespace mlir::triton;

namespace {

std::string nameOf(Value value, AsmState &state) {
  std::string text;
  llvm::raw_string_ostream os(text);
  value.printAsOperand(os, state);
  return text;
}

/// "%view -> %a,%b": for every memdesc, the buffers that it may be.
struct TestAlias : PassWrapper<TestAlias, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAlias)

  StringRef getArgument() const final { return "test-print-alias"; }
  StringRef getDescription() const final {
    return "Print the buffers that every memdesc may view as remarks";
  }

  void runOnOperation() override {
    getOperation().walk([&](FunctionOpInterface function) {
      SharedMemoryAliasAnalysis aliases(function);
      AsmState state(function.getOperation());
      auto print = [&](Value value, Operation *place) {
        if (!isa<gpu::MemDescType>(value.getType()))
          return;
        std::vector<std::string> names;
        for (Value root : aliases.getRoots(value))
          names.push_back(nameOf(root, state));
        llvm::sort(names);
        std::string text = nameOf(value, state) + " -> ";
        llvm::interleave(
            names, [&](const std::string &name) { text += name; },
            [&] { text += ","; });
        emitRemark(place->getLoc(), text);
      };
      function.walk<WalkOrder::PreOrder>([&](Operation *op) {
        for (Value result : op->getResults())
          print(result, op);
        for (Region &region : op->getRegions())
          for (Block &block : region)
            for (Value argument : block.getArguments())
              print(argument, op);
      });
    });
  }
};

struct TestAllocation : PassWrapper<TestAllocation, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAllocation)

  StringRef getArgument() const final { return "test-print-allocation"; }
  StringRef getDescription() const final {
    return "Print the place of every buffer in shared memory as a remark";
  }

  void runOnOperation() override {
    auto allocation = ModuleAllocation::compute(getOperation());
    if (failed(allocation))
      return signalPassFailure();
    for (auto &[function, frame] : allocation->getFunctions()) {
      for (const Allocation::Buffer &buffer : frame->getBuffers()) {
        StringRef kind = buffer.kind == Allocation::Kind::Explicit  ? ""
                         : buffer.kind == Allocation::Kind::Scratch ? "scratch "
                                                                    : "call ";
        emitRemark(buffer.owner->getLoc())
            << kind << "offset = " << buffer.offset
            << ", size = " << buffer.size;
      }
      emitRemark(function->getLoc())
          << "size = " << frame->getSharedMemorySize();
    }
  }
};

struct TestMembar : PassWrapper<TestMembar, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestMembar)

  StringRef getArgument() const final { return "test-print-membar"; }
  StringRef getDescription() const final {
    return "Insert the barriers between accesses to shared memory, wherever it "
           "is placed, and those of a cluster";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<nvidia_gpu::TritonNvidiaGPUDialect>();
  }

  void runOnOperation() override {
    OpPassManager ofClusters(ModuleOp::getOperationName());
    ofClusters.addPass(
        nvidia_gpu::createTritonNvidiaGPUClusterBarrierAfterInit());
    ofClusters.addPass(nvidia_gpu::createTritonNvidiaGPUClusterBarrierAtEnd());
    if (failed(runPipeline(ofClusters, getOperation())))
      return signalPassFailure();
    auto allocation = ModuleAllocation::compute(getOperation());
    if (failed(allocation))
      return signalPassFailure();
    insertMemoryBarriers(*allocation);
  }
};

} // namespace

void mlir::triton::test::registerTestSharedMemoryPasses() {
  PassRegistration<TestAlias>();
  PassRegistration<TestAllocation>();
  PassRegistration<TestMembar>();
}
