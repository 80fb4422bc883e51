//===-- Pipelines.h - The stages of a compile for NVIDIA --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One function a stage. The same functions run from Python and, by name, from
// tile-opt: -tile-nvidia-ttir, -tile-nvidia-ttgir='target=cuda:90 num-warps=4',
// -tile-nvidia-gluon, -tile-nvidia-llir.
//
//===----------------------------------------------------------------------===//
#ifndef NVIDIA_PIPELINES_PIPELINES_H
#define NVIDIA_PIPELINES_PIPELINES_H

#include "tile/Dialect/Triton/Transforms/Pipeline.h"

namespace mlir::triton::nvidia {

struct TTGIROptions : StageOptions<TTGIROptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("The machine, as in cuda:90"),
                             llvm::cl::init("")};
  Option<int> numWarps{*this, "num-warps",
                       llvm::cl::desc("Warps that run one program"),
                       llvm::cl::init(4)};
  Option<int> numCTAs{*this, "num-ctas",
                      llvm::cl::desc("Blocks that run one program together"),
                      llvm::cl::init(1)};
  Option<int> numStages{*this, "num-stages",
                        llvm::cl::desc("Depth of software pipelines"),
                        llvm::cl::init(3)};
  Option<bool> prefetch{*this, "prefetch",
                        llvm::cl::desc("Run tritongpu-prefetch, which trades "
                                       "registers for latency"),
                        llvm::cl::init(false)};
  Option<bool> tma{*this, "tma",
                   llvm::cl::desc("Let bulk tensor copies serve descriptors, "
                                  "where the target has them"),
                   llvm::cl::init(true)};
  Option<bool> tensorMemory{*this, "tensor-memory",
                            llvm::cl::desc("Let dots add up in tensor "
                                           "memory, where the target has it"),
                            llvm::cl::init(true)};
  Option<bool> specializeWarps{
      *this, "specialize-warps",
      llvm::cl::desc("Give loops over tiles warps for copies and dots, where "
                     "it pays and dots add up in tensor memory"),
      llvm::cl::init(true)};
  Option<int> rowGroups{
      *this, "row-groups",
      llvm::cl::desc("Among how many groups of warps loops of chained dots "
                     "divide their rows, if they ask for warps of their own "
                     "and dots add up in tensor memory: 1, 2 where it is "
                     "possible, or 0, which is 2 where it pays"),
      llvm::cl::init(0)};
  Option<bool> correctionGroup{
      *this, "correction-group",
      llvm::cl::desc("Give sums in tensor memory warps that correct them, in "
                     "loops that are divided among groups of warps"),
      llvm::cl::init(false)};
  Option<bool> exp2Polynomial{
      *this, "exp2-polynomial",
      llvm::cl::desc("Compute some powers of two in such loops by a "
                     "polynomial, where they are rounded to 16 bits or fewer"),
      llvm::cl::init(false)};
  Option<std::string> raisePointers{
      *this, "raise-pointers",
      llvm::cl::desc("Which loops with dots load through descriptors where "
                     "programs load by pointers: none, chains (those where a "
                     "dot multiplies what comes from another one) or all"),
      llvm::cl::init("none")};
  Option<bool> launchMaps{
      *this, "launch-maps",
      llvm::cl::desc("Let launches make descriptors that are of arguments "
                     "alone"),
      llvm::cl::init(false)};
  Option<bool> clc{
      *this, "clc",
      llvm::cl::desc("Have programs go on with others that have not begun, by "
                     "cluster launch control"),
      llvm::cl::init(false)};
};

/// What explicit programs say is on their module: they need none of the others.
struct GluonOptions : StageOptions<GluonOptions> {};

struct LLIROptions : StageOptions<LLIROptions> {
  Option<int> computeCapability{
      *this, "compute-capability",
      llvm::cl::desc("Times ten, as 90; 0 takes it from ttg.target"),
      llvm::cl::init(0)};
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
/// The first part of the next: gives all buffers of ttg a place, or fails where
/// the machine has not enough memory for them.
void buildAllocationPipeline(const PassAdder &add, const LLIROptions &options);
/// ttg to the LLVM dialect.
void buildLLIRPipeline(const PassAdder &add, const LLIROptions &options);

void registerPipelines();

} // namespace mlir::triton::nvidia

#endif // NVIDIA_PIPELINES_PIPELINES_H
