//===-- Workarounds.cpp - The faults of LLVM's AMDGPU ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Workarounds.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

using namespace mlir::triton;
using namespace mlir::triton::amd;

// third_party/amd/test/lit/LLVM22 shows each fault by LLVM's own tools. A test
// there that fails with another LLVM means that its row can go.
static_assert(LLVM_VERSION_MAJOR == 22,
              "run the reproducers in test/lit/LLVM22 with this LLVM, take out "
              "the rows whose faults are mended, and rename the folders");

namespace {
constexpr llvm::StringLiteral kRDNA[] = {"gfx11", "gfx120"};
constexpr llvm::StringLiteral kSDWA[] = {"gfx9"};
constexpr llvm::StringLiteral kGfx11[] = {"gfx110"};
constexpr llvm::StringLiteral kGfx12[] = {"gfx120"};
constexpr llvm::StringLiteral kGfx1250[] = {"gfx1250"};
constexpr llvm::StringLiteral kUnmarkedProducts[] = {"gfx11", "gfx950",
                                                     "gfx1250"};

constexpr LLVMWorkaround kTable[] = {
    {.name = "dot4",
     .component = "SITargetLowering",
     .features = "-dot7-insts"},
    {.name = "true16",
     .component = "AMDGPUAsmPrinter",
     .processors = kRDNA,
     .features = "-real-true16"},
    {.name = "high-registers",
     .component = "AMDGPULowerVGPREncoding",
     .processors = kGfx1250,
     .rewrite = limitToLowRegisters},
    {.name = "known-words",
     .component = "SIFoldOperands",
     .rewrite = writeKnownWords},
    {.name = "constant-shuffles",
     .component = "SIFoldOperands",
     .rewrite = foldConstantShuffles},
    {.name = "shuffled-factors",
     .component = "GCNDPPCombine",
     .processors = kGfx12,
     .rewrite = keepShufflesOutOfWideProducts},
    {.name = "narrow-factors",
     .component = "VOP3Instructions",
     .rewrite = keepFactorsWhole},
    {.name = "signed-operands",
     .component = "SIPeepholeSDWA",
     .processors = kSDWA,
     .rewrite = keepSignsOfFloats},
    {.name = "convergent-products",
     .component = "MachineSink",
     .processors = kUnmarkedProducts,
     .rewrite = keepProductsInTheirBlocks},
    {.name = "sign-extended-loads",
     .component = "SIISelLowering",
     .rewrite = keepNarrowLoadsInOrder},
    {.name = "dpp-operands",
     .component = "GCNDPPCombine",
     .processors = kGfx11,
     .insertPass = keepDPPOperandsInRegisters},
    {.name = "lane-masks",
     .component = "SILowerI1Copies",
     .insertPass = moveComparisonsToBranches},
};
} // namespace

llvm::ArrayRef<LLVMWorkaround> amd::getLLVMWorkarounds() { return kTable; }

llvm::CallInst &amd::passThroughAssembly(llvm::Instruction &inst) {
  llvm::IRBuilder<> builder(inst.getNextNode());
  builder.SetCurrentDebugLocation(inst.getDebugLoc());
  llvm::Type *type = inst.getType();
  llvm::CallInst *passed = builder.CreateCall(
      llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false), "",
                           "=v,0", /*hasSideEffects=*/false),
      {&inst});
  inst.replaceUsesWithIf(
      passed, [&](const llvm::Use &use) { return use.getUser() != passed; });
  return *passed;
}
