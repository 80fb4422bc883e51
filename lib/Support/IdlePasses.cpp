//===-- IdlePasses.cpp - Passes without anything to do --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Support/IdlePasses.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::triton;

/// Filled while passes are registered, and only read after that.
static SmallVector<PassesForMachines> &getAll() {
  static SmallVector<PassesForMachines> all;
  return all;
}

void triton::addPassesForMachines(const PassesForMachines &passes) {
  // Passes may be registered again.
  for (const PassesForMachines &known : getAll())
    if (known.contain == passes.contain)
      return;
  getAll().push_back(passes);
}

std::optional<StringRef> triton::findOtherMachines(StringRef pass,
                                                   StringRef target) {
  for (const PassesForMachines &known : getAll())
    if (known.contain(pass) && !known.suit(target))
      return known.machines;
  return std::nullopt;
}

namespace {
struct IdlePass : PassWrapper<IdlePass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(IdlePass)
  IdlePass(StringRef name, StringRef reason) : name(name), reason(reason) {}
  StringRef getArgument() const override { return name; }
  StringRef getName() const override { return name; }
  StringRef getDescription() const override { return reason; }
  void runOnOperation() override { markAllAnalysesPreserved(); }

  StringRef name, reason;
};
} // namespace

std::unique_ptr<Pass> triton::createIdlePass(StringRef name, StringRef reason) {
  return std::make_unique<IdlePass>(name, reason);
}

std::optional<StringRef> triton::getReasonOfIdlePass(Pass *pass) {
  if (pass->getTypeID() != TypeID::get<IdlePass>())
    return std::nullopt;
  return static_cast<IdlePass *>(pass)->reason;
}
