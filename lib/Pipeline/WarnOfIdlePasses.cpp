//===-- WarnOfIdlePasses.cpp - Passes that find nothing to do -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Pipeline/WarnOfIdlePasses.h"

#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Support/IdlePasses.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/WithColor.h"

#include <map>
#include <mutex>

using namespace mlir;

namespace {

constexpr StringLiteral kToLayouts = "convert-triton-to-tritongpu";

/// In front of it, this one leaves descriptors to pointers.
constexpr StringLiteral kOfDescriptors =
    "triton-nvidia-optimize-descriptor-encoding";

bool isForLayouts(StringRef pass) {
  constexpr StringLiteral prefixes[] = {"tritongpu-", "triton-nvidia-",
                                        "tritonamdgpu-", "triton-amdgpu-"};
  return pass != kOfDescriptors &&
         llvm::any_of(prefixes, [&](StringRef prefix) {
           return pass.starts_with(prefix);
         });
}

/// Why a pass is not for this module; empty if it is.
std::string reasonFor(StringRef pass, ModuleOp module) {
  StringRef layouts = triton::gpu::kNumWarpsAttrName;
  if (isForLayouts(pass) && !module->hasAttr(layouts))
    return ("it is for modules with layouts, but this one has no '" + layouts +
            "'; run -" + kToLayouts + " first")
        .str();
  if (pass == kToLayouts && module->hasAttr(layouts))
    return ("it is for modules without layouts, but this one has '" + layouts +
            "'")
        .str();
  StringRef targets = triton::gpu::kTargetAttrName;
  auto target = module->getAttrOfType<StringAttr>(targets);
  if (!target)
    return "";
  if (auto machines = triton::findOtherMachines(pass, target.getValue()))
    return ("it is for " + *machines + ", but '" + targets + "' is '" +
            target.getValue() + "'")
        .str();
  return "";
}

/// A few of these passes have something to do in other modules, too: only those
/// that changed nothing are told of.
struct WarnOfIdlePasses : PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *op) override {
    if (auto reason = triton::getReasonOfIdlePass(pass)) {
      std::lock_guard lock(mutex);
      tell(pass, "does nothing: " + *reason);
      return;
    }
    auto module = dyn_cast<ModuleOp>(op);
    if (!module)
      module = op->getParentOfType<ModuleOp>();
    std::string why = module ? reasonFor(pass->getArgument(), module) : "";
    if (why.empty())
      return;
    OperationFingerPrint before(op);
    std::lock_guard lock(mutex);
    running.insert_or_assign({pass, op}, std::pair(why, before));
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    std::lock_guard lock(mutex);
    auto known = running.find({pass, op});
    if (known == running.end())
      return;
    auto [why, before] = known->second;
    running.erase(known);
    if (before == OperationFingerPrint(op))
      tell(pass, "changed nothing: " + why);
  }

  void runAfterPassFailed(Pass *pass, Operation *op) override {
    std::lock_guard lock(mutex);
    running.erase({pass, op});
  }

  /// Once for each pass.
  void tell(Pass *pass, const Twine &what) {
    if (told.insert(pass->getArgument()).second)
      llvm::WithColor::warning()
          << "'-" << pass->getArgument() << "' " << what << "\n";
  }

  std::mutex mutex;
  std::map<std::pair<Pass *, Operation *>,
           std::pair<std::string, OperationFingerPrint>>
      running;
  llvm::StringSet<> told;
};

} // namespace

void triton::warnOfIdlePasses(PassManager &pm) {
  pm.addInstrumentation(std::make_unique<WarnOfIdlePasses>());
}
