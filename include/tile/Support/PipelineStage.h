//===-- PipelineStage.h - Stages of a compile as pipelines ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A stage is a function that adds passes as a struct of options says. What the
// stages of all backends share is here: passes that are left out by name, and
// extension points, where other passes are put in.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_SUPPORT_PIPELINESTAGE_H
#define TILE_SUPPORT_PIPELINESTAGE_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::triton {

/// Places of the pipelines where others put passes in: profiling, sanitizers,
/// plugins. All backends have the same.
enum class ExtensionPoint {
  /// `tt` as the front end wrote it.
  TTIRStart,
  /// Inlined, canonical `tt`.
  TTIREnd,
  /// `ttg`, before layouts are chosen.
  LayoutsStart,
  /// All layouts are chosen; loops are as they were written.
  LoopsStart,
  /// Loops are pipelined. `ttg` of explicit programs is here, too.
  CopiesStart,
  /// `ttg` as the next stage lowers it.
  CopiesEnd,
  /// The same, at the start of the next stage.
  LLIRStart,
  /// Control flow is branches, all buffers have places, all barriers are there.
  BeforeLowering,
  /// The LLVM dialect.
  LLIREnd,
};

/// The point that the option `insert` calls so: `loops-start`.
std::optional<ExtensionPoint> findExtensionPoint(StringRef name);

/// Every stage can leave passes out, by the names they have on the command
/// line, and take others in.
template <typename OptionsT>
struct StageOptions : PassPipelineOptions<OptionsT> {
  typename PassPipelineOptions<OptionsT>::template ListOption<std::string>
      disable{*this, "disable",
              llvm::cl::desc("Passes to leave out, as in "
                             "disable=tritongpu-prefetch,canonicalize")};
  typename PassPipelineOptions<OptionsT>::template ListOption<std::string>
      insert{*this, "insert",
             llvm::cl::desc("Passes to put in at extension points, as in "
                            "insert=loops-start:cse,copies-end:my-pass{n=1}; "
                            "points of other stages are passed over")};
};

/// Adds passes to a pipeline, but for those that are switched off by name.
class PassAdder {
public:
  template <typename OptionsT>
  PassAdder(OpPassManager &pm, const OptionsT &options)
      : pm(pm), disabled(options.disable.begin(), options.disable.end()),
        inserted(options.insert.begin(), options.insert.end()) {}

  /// Fails where `insert` names no point, or no passes.
  LogicalResult
  checkInserted(function_ref<LogicalResult(const Twine &)> errorHandler) const;

  void operator()(std::unique_ptr<Pass> pass) const;
  /// Adds what is to be put in here.
  void at(ExtensionPoint point) const;

private:
  OpPassManager &pm;
  SmallVector<std::string> disabled, inserted;
};

/// Makes a stage known by name, to tile-opt and to Python.
template <typename OptionsT>
void registerStage(StringRef name, StringRef summary,
                   void (*build)(const PassAdder &, const OptionsT &)) {
  registerPassPipeline(
      name, summary,
      [build](OpPassManager &pm, StringRef text,
              function_ref<LogicalResult(const Twine &)> errorHandler) {
        OptionsT options;
        if (failed(options.parseFromString(text)))
          return failure();
        PassAdder add(pm, options);
        if (failed(add.checkInserted(errorHandler)))
          return failure();
        build(add, options);
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handler) {
        handler(OptionsT());
      });
}

} // namespace mlir::triton

#endif // TILE_SUPPORT_PIPELINESTAGE_H
