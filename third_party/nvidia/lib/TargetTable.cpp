//===-- TargetTable.cpp - Facts about the GPUs we compile for -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "nvidia/TargetTable.h"

#include "tile/Support/AttributeNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr int kKiB = 1024;

// PTX versions are not the oldest that could express a kernel. They are the
// oldest that every driver supporting the processor accepts and that has all
// the instructions named by the record's features. (fp8 mma came with 8.4,
// accesses of 256 bits with 8.8.)

constexpr NVIDIATarget makeTuring() {
  return {.computeCapability = 75,
          .processor = "sm_75",
          .ptxVersion = 74,
          .maxSharedMemory = 64 * kKiB,
          .maxThreadsPerSM = 1024,
          .maxBlocksPerSM = 16};
}

constexpr NVIDIATarget makeAmpere(int computeCapability, const char *processor,
                                  int ptxVersion, int maxSharedMemory) {
  return {.computeCapability = computeCapability,
          .processor = processor,
          .ptxVersion = ptxVersion,
          .maxSharedMemory = maxSharedMemory,
          .hasAsyncCopy = true,
          .hasRedux = true,
          .hasPackedCvt = true,
          .hasMmaSync = true};
}

constexpr NVIDIATarget makeAda() {
  NVIDIATarget target = makeAmpere(89, "sm_89", 84, 99 * kKiB);
  target.hasNativeFP8Cvt = true;
  target.hasFP8Mma = true;
  return target;
}

/// What Hopper brought and all later ones kept.
constexpr NVIDIATarget makeSinceHopper(int computeCapability,
                                       const char *processor, int ptxVersion,
                                       int maxSharedMemory) {
  NVIDIATarget target =
      makeAmpere(computeCapability, processor, ptxVersion, maxSharedMemory);
  target.hasNativeFP8Cvt = true;
  target.hasFP8Mma = true;
  target.hasBF16Arithmetic = true;
  target.hasStMatrix = true;
  target.hasClusters = true;
  target.hasTMA = true;
  target.hasRegisterExchange = true;
  target.hasVectorAtomics = true;
  return target;
}

constexpr NVIDIATarget makeHopper() {
  NVIDIATarget target = makeSinceHopper(90, "sm_90a", 84, 227 * kKiB);
  target.hasWGMMA = true;
  return target;
}

constexpr NVIDIATarget withTensorMemory(NVIDIATarget target) {
  target.hasTensorMemory = true;
  target.hasTMAScatter = true;
  // The only GPU with tensor memory whose tensor cores leave integers out.
  target.hasIntegerTensorCore = target.computeCapability != 103;
  target.hasTensorMemoryReduction = target.computeCapability != 100;
  target.hasFloatRedux = target.computeCapability < 110;
  return target;
}

constexpr NVIDIATarget makeBlackwell(int computeCapability,
                                     const char *processor, int ptxVersion) {
  NVIDIATarget target =
      makeSinceHopper(computeCapability, processor, ptxVersion, 227 * kKiB);
  target.maxGlobalAccessBits = 256;
  target.hasTMARows = true;
  target.hasClusterLaunchControl = true;
  return target;
}

constexpr NVIDIATarget makeConsumerBlackwell(int computeCapability,
                                             const char *processor,
                                             int ptxVersion) {
  NVIDIATarget target = makeBlackwell(computeCapability, processor, ptxVersion);
  target.maxSharedMemory = 99 * kKiB;
  target.hasBlockScaledMma = true;
  return target;
}

/// How much a multiprocessor holds, where it is not what most do.
constexpr NVIDIATarget holding(NVIDIATarget target, int threads, int blocks) {
  target.maxThreadsPerSM = threads;
  target.maxBlocksPerSM = blocks;
  return target;
}

constexpr NVIDIATarget kTargets[] = {
    makeTuring(),
    holding(makeAmpere(80, "sm_80", 74, 163 * kKiB), 2048, 32),
    holding(makeAmpere(86, "sm_86", 74, 99 * kKiB), 1536, 16),
    holding(makeAmpere(87, "sm_87", 74, 163 * kKiB), 1536, 16),
    makeAda(),
    holding(makeHopper(), 2048, 32),
    holding(withTensorMemory(makeBlackwell(100, "sm_100a", 88)), 2048, 32),
    holding(withTensorMemory(makeBlackwell(103, "sm_103a", 88)), 2048, 32),
    withTensorMemory(makeBlackwell(110, "sm_110a", 90)),
    makeConsumerBlackwell(120, "sm_120a", 88),
    makeConsumerBlackwell(121, "sm_121a", 88),
};
} // namespace

std::string NVIDIATarget::targetString() const {
  return "cuda:" + std::to_string(computeCapability);
}

TargetRow NVIDIATarget::getRow() const {
  TargetRow row{targetString(), {}};
#define TARGET_COLUMN(TYPE, MEMBER, DEFAULT, NAME)                             \
  row.facts.emplace_back(NAME, MEMBER);
#include "nvidia/TargetColumns.def"
  return row;
}

ArrayRef<NVIDIATarget> triton::getNVIDIATargets() { return kTargets; }

const NVIDIATarget *triton::lookupNVIDIATarget(int computeCapability) {
  for (const NVIDIATarget &target : kTargets)
    if (target.computeCapability == computeCapability)
      return &target;
  return nullptr;
}

std::optional<int> triton::parseNVIDIATargetString(StringRef target) {
  int number;
  if (!target.consume_front("cuda:") || target.getAsInteger(10, number))
    return std::nullopt;
  return number;
}

FailureOr<const NVIDIATarget *> triton::getNVIDIATarget(ModuleOp module) {
  auto attr = module->getAttrOfType<StringAttr>(gpu::kTargetAttrName);
  if (!attr)
    return emitError(module.getLoc(),
                     "expected a 'ttg.target' attribute on the module, "
                     "such as \"cuda:90\"");
  if (std::optional<int> cc = parseNVIDIATargetString(attr.getValue()))
    if (const NVIDIATarget *target = lookupNVIDIATarget(*cc))
      return target;
  InFlightDiagnostic diag = emitError(module.getLoc(), "unknown target ")
                            << attr;
  diag << ": known ones are ";
  llvm::interleaveComma(getNVIDIATargets(), diag, [&](const NVIDIATarget &t) {
    diag << t.targetString();
  });
  return diag;
}
