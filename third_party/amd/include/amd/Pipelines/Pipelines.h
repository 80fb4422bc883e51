//===-- Pipelines.h - The stages of a compile for AMD -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function a stage. The same functions run from Python and, by name, from
// tile-opt: -tile-amd-ttir, -tile-amd-ttgir='target=hip:gfx942 num-warps=4',
// -tile-amd-gluon, -tile-amd-llir.
//
//===----------------------------------------------------------------------===//
#ifndef AMD_PIPELINES_PIPELINES_H
#define AMD_PIPELINES_PIPELINES_H

#include "tile/Dialect/Triton/Transforms/Pipeline.h"

namespace mlir::triton::amd {

struct TTGIROptions : StageOptions<TTGIROptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("The machine, as in hip:gfx942"),
                             llvm::cl::init("")};
  Option<int> numWarps{*this, "num-warps",
                       llvm::cl::desc("Waves that run one program"),
                       llvm::cl::init(4)};
  Option<int> numStages{*this, "num-stages",
                        llvm::cl::desc("Depth of software pipelines"),
                        llvm::cl::init(2)};
  Option<int> matrixInstructionSize{
      *this, "matrix-instruction-size",
      llvm::cl::desc("Rows of matrix instructions: 16, 32, or 4 for narrow "
                     "ones; 0 for any"),
      llvm::cl::init(0)};
  Option<int> kPack{*this, "kPack",
                    llvm::cl::desc("Factor on the neighbours along K that a "
                                   "lane holds of an operand"),
                    llvm::cl::init(1)};
  Option<bool> useAsyncCopy{
      *this, "use-async-copy",
      llvm::cl::desc("Load operands of loops straight into LDS, on targets "
                     "that load 16 bytes so"),
      llvm::cl::init(false)};
  Option<bool> useBlockPingpong{
      *this, "use-block-pingpong",
      llvm::cl::desc("Raise the priority of waves that multiply in programs of "
                     "four, too, on targets where those of eight take turns"),
      llvm::cl::init(false)};
  Option<std::string> scheduleHint{
      *this, "schedule-hint",
      llvm::cl::desc("How instructions of loops are scheduled: none, "
                     "attention or memory-bound-attention"),
      llvm::cl::init("none")};
};

/// What explicit programs say is on their module: they need none of the others.
struct GluonOptions : StageOptions<GluonOptions> {};

struct LLIROptions : StageOptions<LLIROptions> {
  Option<bool> lineInfo{*this, "line-info",
                        llvm::cl::desc("Keep source lines for the debugger "
                                       "and the profiler"),
                        llvm::cl::init(true)};
};

/// tt to optimised ttg.
void buildTTGIRPipeline(const PassAdder &add, const TTGIROptions &options);
/// ttg with layouts that the program says (and may leave open) to ttg that can
/// be lowered: no layout, loop or buffer is chosen here.
void buildGluonPipeline(const PassAdder &add, const GluonOptions &options);
/// ttg to the LLVM dialect.
void buildLLIRPipeline(const PassAdder &add, const LLIROptions &options);

void registerPipelines();
/// Passes of other compilers of this IR that are called otherwise here.
void registerOtherNames();

} // namespace mlir::triton::amd

#endif // AMD_PIPELINES_PIPELINES_H
