//===-- TargetTable.cpp - Facts about AMD GPUs ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "amd/TargetTable.h"

#include "tile/Support/AttributeNames.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::amd;

namespace {
constexpr int kKiB = 1024;

/// Of CDNA: a format of 32 bits.
constexpr int kCDNABuffer = 0x27000;
/// Of RDNA: the same, and bounds in bytes (OOB_SELECT 3).
constexpr int kRDNABuffer = 0x31016000;

/// MI200.
constexpr AMDTarget makeCDNA2() {
  return {.processor = "gfx90a",
          .waveSize = 64,
          .maxSharedMemory = 64 * kKiB,
          .sharedMemoryBanks = 32,
          .mfmaVersion = 2,
          .hasPackedF16Atomic = true,
          .directLoadBytes = 4,
          .bufferFlags = kCDNABuffer,
          .streamedPolicy = 2};
}

/// MI300.
constexpr AMDTarget makeCDNA3() {
  AMDTarget target = makeCDNA2();
  target.processor = "gfx942";
  target.mfmaVersion = 3;
  target.hasXF32 = true;
  target.hasFNUZ = true;
  target.hasFP8Conversion = true;
  target.hasPackedBF16Atomic = true;
  target.usesBlockPingpong = true;
  target.systemAtomicPolicy = 16; // sc1
  return target;
}

/// MI350.
constexpr AMDTarget makeCDNA4() {
  AMDTarget target = makeCDNA3();
  target.processor = "gfx950";
  target.maxSharedMemory = 160 * kKiB;
  target.sharedMemoryBanks = 64;
  target.mfmaVersion = 4;
  target.hasXF32 = false;
  target.hasFNUZ = false;
  target.hasLaneSwaps = true;
  target.transposedLDSLoads = 1;
  target.directLoadBytes = 16;
  target.usesBlockPingpong = false;
  return target;
}

/// RX 7000.
constexpr AMDTarget makeRDNA3(const char *processor) {
  return {.processor = processor,
          .waveSize = 32,
          .maxSharedMemory = 64 * kKiB,
          .sharedMemoryBanks = 32,
          .wmmaVersion = 1,
          .hasRowXMask = true,
          .bufferFlags = kRDNABuffer,
          .streamedPolicy = 6};
}

/// RX 9000.
constexpr AMDTarget makeRDNA4(const char *processor) {
  AMDTarget target = makeRDNA3(processor);
  target.wmmaVersion = 2;
  target.hasFP8Conversion = true;
  target.hasPackedF16Atomic = true;
  target.hasPackedBF16Atomic = true;
  target.streamedPolicy = 1;
  target.gpuAtomicPolicy = 2 << 3; // scope:SCOPE_DEV
  target.systemAtomicPolicy = 3 << 3;
  return target;
}

constexpr AMDTarget makeGFX1250() {
  AMDTarget target = makeRDNA4("gfx1250");
  target.wmmaVersion = 3;
  target.maxSharedMemory = 320 * kKiB;
  target.sharedMemoryBanks = 64;
  target.transposedLDSLoads = 2;
  target.directLoadBytes = 16;
  target.hasAsyncLDSLoads = true;
  target.hasTensorCopies = true;
  // Its descriptors have another form.
  target.bufferFlags = 0;
  return target;
}

constexpr AMDTarget kTargets[] = {
    makeCDNA2(),          makeCDNA3(),          makeCDNA4(),
    makeRDNA3("gfx1100"), makeRDNA3("gfx1101"), makeRDNA3("gfx1102"),
    makeRDNA4("gfx1200"), makeRDNA4("gfx1201"), makeGFX1250(),
};
} // namespace

std::string AMDTarget::targetString() const {
  return std::string("hip:") + processor;
}

TargetRow AMDTarget::getRow() const {
  TargetRow row{targetString(), {}};
#define TARGET_COLUMN(TYPE, MEMBER, DEFAULT, NAME)                             \
  row.facts.emplace_back(NAME, MEMBER);
#include "amd/TargetColumns.def"
  return row;
}

ArrayRef<AMDTarget> triton::amd::getAMDTargets() { return kTargets; }

const AMDTarget *triton::amd::lookupAMDTarget(StringRef processor) {
  for (const AMDTarget &target : kTargets)
    if (processor == target.processor)
      return &target;
  return nullptr;
}

FailureOr<const AMDTarget *> triton::amd::getAMDTarget(ModuleOp module) {
  auto attr = module->getAttrOfType<StringAttr>(gpu::kTargetAttrName);
  if (!attr)
    return emitError(module.getLoc(),
                     "expected a 'ttg.target' attribute on the module, "
                     "such as \"hip:gfx942\"");
  StringRef name = attr.getValue();
  if (name.consume_front("hip:"))
    if (const AMDTarget *target = lookupAMDTarget(name))
      return target;
  InFlightDiagnostic diag = emitError(module.getLoc(), "unknown target ")
                            << attr;
  diag << ": known ones are ";
  llvm::interleaveComma(getAMDTargets(), diag, [&](const AMDTarget &target) {
    diag << target.targetString();
  });
  return diag;
}

void triton::amd::setAMDTarget(ModuleOp module,
                               ArrayRef<StringRef> processors) {
  for (StringRef processor : processors)
    if (!processor.empty()) {
      module->setAttr(gpu::kTargetAttrName,
                      StringAttr::get(module.getContext(), "hip:" + processor));
      return;
    }
}
