//===-- ScarceRegisters.cpp - Fewer spills, and one wave more -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with matrix products have nearly all registers in use. What becomes
// of them depends on the order that LLVM's scheduler finds, and shows in the
// code alone: so there may be two codes to choose from.
//
// On CDNA, the scheduler aims at the highest occupancy. Kernels with dots
// cannot have that. As soon as the scheduler gives it up, it has no other aim.
// The loops then read operands far ahead, and need a few registers more than
// one wave more would leave. If the scheduler is told to make room for that
// wave, it often does, at the price of a few instructions.
//
// On RDNA, the second code is for kernels that spill, too. Its scheduler counts
// registers as the target has them, and for those that spill it has a fence
// behind dots. Without need, both cost a few registers and instructions
// there.
//
// Where the loops of a kernel carry more than all registers, it spills in any
// case. Then the second code is the only one. LLVM's register allocator would
// take half a minute for some of the first ones. It takes a second for the
// second ones.
//
// Kernels without dots have one code. Where their values need several times
// the registers in the order of the scheduler, too, the register allocator
// would try for minutes. There the scheduler is told to need few: it brings
// values and their uses together. Told so where its own order is good, it
// spills hundreds. On RDNA, kernels with dots that need still more are such
// kernels, too: no second code helps them.
//
//===----------------------------------------------------------------------===//

#include "TargetMachine.h"

#include "amd/TargetTable.h"
#include "tile/Dialect/TritonGPU/IR/Dialect.h"
#include "tile/Target/FatalErrors.h"
#include "tile/Target/LLVMFlagScope.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <condition_variable>
#include <mutex>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

/// What a lane of RDNA has at most, and one of CDNA beside its accumulators.
static constexpr unsigned kRegistersOfLane = 256;

/// An order that needs so many times as many is hopeless.
static constexpr unsigned kHopelessTimes = 2;
/// For kernels with dots, which may have a better second code.
static constexpr unsigned kHopelessTimesOfProducts = 6;

/// On kernels: the waves of one SIMD unit for which a compute unit has LDS.
static constexpr llvm::StringLiteral kWavesByLDS = "tile-waves-by-lds";
/// On kernels, LLVM's: the waves of one SIMD unit that registers are for.
static constexpr llvm::StringLiteral kWantedWaves = "amdgpu-waves-per-eu";
/// On functions, LLVM's: what its scheduler aims at.
static constexpr llvm::StringLiteral kSchedulingStrategy =
    "amdgpu-sched-strategy";

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
  if (!shared || shared.getInt() <= 0 || !kernel)
    return;
  // Four SIMD units share LDS; RDNA's have that of two compute units.
  constexpr int64_t units = 4;
  bool hasPairs = target.wmmaVersion == 1 || target.wmmaVersion == 2;
  int64_t groups =
      target.maxSharedMemory * (hasPairs ? 2 : 1) / shared.getInt();
  // A unit holds so many at most.
  int64_t most = target.mfmaVersion ? 8 : 16;
  int64_t waves = std::min(most, groups * gpu::lookupNumWarps(from) / units);
  kernel->addFnAttr(kWavesByLDS, std::to_string(waves));
}

/// The number behind the first `name` of the assembly, 0 if there is none.
static unsigned readNumber(StringRef assembly, StringRef name) {
  StringRef rest = assembly.split(name).second.ltrim();
  unsigned number = 0;
  return rest.consumeInteger(10, number) ? 0 : number;
}

/// The waves of one SIMD unit that the code leaves registers for.
static unsigned countWaves(StringRef assembly) {
  return readNumber(assembly, "; Occupancy:");
}

static unsigned countSpills(StringRef assembly) {
  return readNumber(assembly, ".vgpr_spill_count:") +
         readNumber(assembly, ".sgpr_spill_count:");
}

/// Runs the code generator. LLVM's scheduler finds out what registers are in
/// use by its own trackers for any target, or by those for this one, which tell
/// the parts of wide registers apart.
static FailureOr<std::string> emit(ModuleOp diagnosticOp, llvm::Module &module,
                                   llvm::TargetMachine &machine,
                                   bool trackersOfTarget) {
  constexpr StringRef name = "amdgpu-use-amdgpu-trackers";
  LLVMFlagScope scope(name, trackersOfTarget);
  if (!scope)
    return diagnosticOp.emitError("this LLVM has no option '") << name << "'";
  return triton::emitAssembly(diagnosticOp, module, machine);
}

/// How many registers values take at most in one place of a block, without
/// those that only pass through it.
static unsigned countLiveRegisters(const llvm::Function &kernel) {
  const llvm::DataLayout &layout = kernel.getDataLayout();
  auto sizeOf = [&](const llvm::Value *value) -> unsigned {
    llvm::Type *type = value->getType();
    return type->isSized()
               ? llvm::divideCeil(layout.getTypeSizeInBits(type), 32)
               : 0;
  };
  unsigned most = 0;
  for (const llvm::BasicBlock &block : kernel) {
    llvm::DenseSet<const llvm::Value *> live;
    unsigned registers = 0;
    auto use = [&](const llvm::Value *value) {
      if (isa<llvm::Instruction>(value) && live.insert(value).second)
        registers += sizeOf(value);
    };
    for (const llvm::Instruction &inst : block)
      if (inst.isUsedOutsideOfBlock(&block))
        use(&inst);
    for (const llvm::Instruction &inst : llvm::reverse(block)) {
      if (live.erase(&inst))
        registers -= sizeOf(&inst);
      if (!isa<llvm::PHINode>(inst))
        for (const llvm::Value *operand : inst.operands())
          use(operand);
      most = std::max(most, registers);
    }
  }
  return most;
}

/// The registers for the vectors and floats that a block gets from others at
/// most: for a loop with dots, its sums, and the operands on their way.
static unsigned countCarriedRegisters(const llvm::Function &kernel) {
  const llvm::DataLayout &layout = kernel.getDataLayout();
  unsigned most = 0;
  for (const llvm::BasicBlock &block : kernel) {
    unsigned bits = 0;
    for (const llvm::PHINode &phi : block.phis())
      if (phi.getType()->isFPOrFPVectorTy() || phi.getType()->isVectorTy())
        bits += layout.getTypeSizeInBits(phi.getType());
    most = std::max(most, bits / 32);
  }
  return most;
}

/// Asks for one wave more than the code `first` leaves registers for, if LDS
/// has room for it. Returns false if nothing is gained by fewer registers.
static bool wantOneWaveMore(llvm::Function &kernel, StringRef first) {
  unsigned waves = countWaves(first), most = 0;
  if (kernel.hasFnAttribute(kWantedWaves) ||
      kernel.getFnAttribute(kWavesByLDS)
          .getValueAsString()
          .getAsInteger(10, most) ||
      waves == 0 || waves >= most)
    return false;
  kernel.addFnAttr(kWantedWaves, std::to_string(waves + 1));
  return true;
}

/// Has `kernel`, whose code so far is `first`, take fewer registers. Returns
/// false if nothing is gained by fewer.
static bool prepareSecond(llvm::Function &kernel, StringRef first,
                          const AMDTarget &target) {
  if (target.mfmaVersion || countSpills(first) == 0)
    return wantOneWaveMore(kernel, first);
  fenceProducts(kernel);
  return true;
}

/// Whether `code` spills less than `other`, or as much and leaves registers for
/// more waves.
static bool isBetter(StringRef code, StringRef other) {
  unsigned spills = countSpills(code), others = countSpills(other);
  return spills < others ||
         (spills == others && countWaves(code) > countWaves(other));
}

/// Whether LLVM's scheduler finds no order that needs up to `times` as many
/// registers as there are.
static FailureOr<bool> isHopeless(ModuleOp diagnosticOp, llvm::Function &kernel,
                                  llvm::TargetMachine &machine,
                                  unsigned times) {
  if (countLiveRegisters(kernel) <= times * kRegistersOfLane)
    return false;
  FailureOr<unsigned> needed =
      measureRegisters(diagnosticOp, *kernel.getParent(), machine);
  if (failed(needed))
    return failure();
  return *needed > times * kRegistersOfLane;
}

FailureOr<std::string>
amd::emitForScarceRegisters(ModuleOp diagnosticOp, llvm::Module &module,
                            llvm::TargetMachine &machine) {
  const AMDTarget *target = lookupAMDTarget(machine.getTargetCPU());
  llvm::Function *kernel = findKernel(module);
  if (!target || !kernel)
    return emit(diagnosticOp, module, machine, /*trackersOfTarget=*/false);
  bool hasProducts = llvm::any_of(llvm::instructions(*kernel), isProduct);
  if (!hasProducts || !target->mfmaVersion) {
    FailureOr<bool> hopeless =
        isHopeless(diagnosticOp, *kernel, machine,
                   hasProducts ? kHopelessTimesOfProducts : kHopelessTimes);
    if (failed(hopeless))
      return failure();
    if (*hopeless)
      kernel->addFnAttr(kSchedulingStrategy, "iterative-minreg");
    if (*hopeless || !hasProducts)
      return emit(diagnosticOp, module, machine, /*trackersOfTarget=*/false);
  }
  if (!target->mfmaVersion &&
      countCarriedRegisters(*kernel) > kRegistersOfLane) {
    fenceProducts(*kernel);
    return emit(diagnosticOp, module, machine, /*trackersOfTarget=*/true);
  }
  // The code generator changes the module.
  LLVMOwner<llvm::Module> other(llvm::CloneModule(module).release());
  FailureOr<std::string> first =
      emit(diagnosticOp, module, machine, /*trackersOfTarget=*/
           target->mfmaVersion != 0);
  if (failed(first) || !prepareSecond(*findKernel(*other), *first, *target))
    return first;
  FailureOr<std::string> second =
      emit(diagnosticOp, *other, machine, /*trackersOfTarget=*/true);
  if (failed(second))
    return second;
  return isBetter(*first, *second) ? first : second;
}
