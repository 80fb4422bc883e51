//===-- PipelineStage.h - Stages of a compile as pipelines ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A stage is a function that fills a pass manager from a struct of options.
// What the stages of all backends share is here.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_SUPPORT_PIPELINESTAGE_H
#define TILE_SUPPORT_PIPELINESTAGE_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::triton {

/// Every stage can leave passes out, by the names they have on the command
/// line.
template <typename OptionsT>
struct StageOptions : PassPipelineOptions<OptionsT> {
  typename PassPipelineOptions<OptionsT>::template ListOption<std::string>
      disable{*this, "disable",
              llvm::cl::desc("Passes to leave out, as in "
                             "disable=tritongpu-prefetch,canonicalize")};
};

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

} // namespace mlir::triton

#endif // TILE_SUPPORT_PIPELINESTAGE_H
