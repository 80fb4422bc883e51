//===-- PassAdder.h - Passes that can be left out ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef NVIDIA_LIB_PIPELINES_PASSADDER_H
#define NVIDIA_LIB_PIPELINES_PASSADDER_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::triton::nvidia {

/// Adds passes to a pipeline, but for those that are switched off by name.
class PassAdder {
public:
  template <typename OptionsT>
  PassAdder(OpPassManager &pm, const OptionsT &options)
      : pm(pm), disabled(options.disable.begin(), options.disable.end()) {}

  void operator()(std::unique_ptr<Pass> pass) const {
    if (!llvm::is_contained(disabled, pass->getArgument()))
      pm.addPass(std::move(pass));
  }

private:
  OpPassManager &pm;
  SmallVector<std::string> disabled;
};

} // namespace mlir::triton::nvidia

#endif // NVIDIA_LIB_PIPELINES_PASSADDER_H
