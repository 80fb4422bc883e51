//===-- Occupancy.cpp - One wave more on a SIMD unit ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's scheduler aims at the occupancy that registers allow if nothing is in
// the way. Kernels with matrix products cannot have that, and as soon as it
// gives up, it has no other aim: their loops read operands far ahead, and end a
// few registers above what one wave more would leave. Told to make room for
// that one, it often does, at the price of a few instructions. Whether it
// spills for it shows in the code alone, so that there are two to choose from.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "amd/TargetTable.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

/// On kernels: the waves of one SIMD unit for which a compute unit has LDS.
static constexpr llvm::StringLiteral kWavesByLDS = "tile-waves-by-lds";

static llvm::Function *findKernel(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() &&
        function.getCallingConv() == llvm::CallingConv::AMDGPU_KERNEL)
      return &function;
  return nullptr;
}

void amd::markWavesByLDS(ModuleOp from, const AMDTarget &target,
                         llvm::Module &to) {
  auto shared = from->getAttrOfType<IntegerAttr>(gpu::kSharedAttrName);
  llvm::Function *kernel = findKernel(to);
  if (!target.mfmaVersion || !shared || shared.getInt() <= 0 || !kernel)
    return;
  constexpr int64_t unitsOfCU = 4;
  int64_t groups = target.maxSharedMemory / shared.getInt();
  int64_t waves = groups * gpu::lookupNumWarps(from) / unitsOfCU;
  kernel->addFnAttr(kWavesByLDS, std::to_string(waves));
}

static bool hasProducts(llvm::Function &function) {
  return llvm::any_of(llvm::instructions(function), [](auto &instruction) {
    auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
    return call && call->getCalledFunction()->getName().contains(".mfma.");
  });
}

/// The number behind the first `name` of the assembly, 0 if there is none.
static unsigned readNumber(StringRef assembly, StringRef name) {
  StringRef rest = assembly.split(name).second.ltrim();
  unsigned number = 0;
  return rest.consumeInteger(10, number) ? 0 : number;
}

static unsigned countSpills(StringRef assembly) {
  return readNumber(assembly, ".vgpr_spill_count:") +
         readNumber(assembly, ".sgpr_spill_count:");
}

FailureOr<std::string> amd::emitForOccupancy(ModuleOp diagnosticOp,
                                             llvm::Module &module,
                                             llvm::TargetMachine &machine) {
  constexpr llvm::StringLiteral wanted = "amdgpu-waves-per-eu";
  llvm::Function *kernel = findKernel(module);
  unsigned most = 0;
  std::unique_ptr<llvm::Module> other;
  if (kernel && !kernel->hasFnAttribute(wanted) &&
      !kernel->getFnAttribute(kWavesByLDS)
           .getValueAsString()
           .getAsInteger(10, most) &&
      hasProducts(*kernel))
    other = llvm::CloneModule(module);
  FailureOr<std::string> first =
      triton::emitAssembly(diagnosticOp, module, machine);
  if (failed(first) || !other)
    return first;
  unsigned waves = readNumber(*first, "; Occupancy:");
  if (waves == 0 || waves >= most)
    return first;
  findKernel(*other)->addFnAttr(wanted, std::to_string(waves + 1));
  FailureOr<std::string> second =
      triton::emitAssembly(diagnosticOp, *other, machine);
  if (failed(second))
    return second;
  return countSpills(*second) > countSpills(*first) ? first : second;
}
