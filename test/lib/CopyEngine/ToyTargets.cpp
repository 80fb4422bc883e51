//===-- ToyTargets.cpp - Machines with the toy copy engine ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The target toy:tokens has copies of blocks that threads wait for by tokens.
// Those of toy:flags arrive at flags in shared memory. Those of toy:ahead have
// tokens, and a buffer more. What threads load there, they store.
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "ToyDialect.h"

#include "tile/Dialect/TritonGPU/IR/TargetModel.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::gpu;

namespace {

class Tokens : public TargetModel {
  ArrayRef<const CopyStrategy *> getCopyEngines() const override {
    static const CopyStrategy *const engines[] = {&toy::getCopiesWithTokens()};
    return engines;
  }
};

class Ahead : public TargetModel {
  ArrayRef<const CopyStrategy *> getCopyEngines() const override {
    static const CopyStrategy *const engines[] = {&toy::getCopiesAhead(),
                                                  &toy::getStores()};
    return engines;
  }
};

class Flags : public TargetModel {
  ArrayRef<const CopyStrategy *> getCopyEngines() const override {
    static const CopyStrategy *const engines[] = {&toy::getCopiesWithFlags()};
    return engines;
  }
  const RingBarriers *getRingBarriers() const override {
    return &toy::getFlags();
  }
};

} // namespace

void registerTileToyTargets(DialectRegistry &registry) {
  registry.insert<toy::ToyDialect>();
  registry.addExtension(+[](MLIRContext *context, TritonGPUDialect *dialect) {
    context->loadDialect<toy::ToyDialect>();
    TargetModels::add(*dialect, "toy",
                      [](StringRef name) -> const TargetModel * {
                        static const Tokens tokens;
                        static const Flags flags;
                        static const Ahead ahead;
                        if (name == "tokens")
                          return &tokens;
                        if (name == "ahead")
                          return &ahead;
                        return name == "flags" ? &flags : nullptr;
                      });
  });
}
