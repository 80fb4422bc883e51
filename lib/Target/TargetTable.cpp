//===-- TargetTable.cpp - Facts about the GPUs we compile for -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Target/TargetTable.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::triton;

namespace {
constexpr int kKiB = 1024;

// PTX versions are not the oldest that could express a kernel, but the oldest
// that every driver supporting the processor accepts and that has all the
// instructions named by the row's features (fp8 mma came with 8.4).
constexpr NVIDIATarget kTargets[] = {
    // clang-format off
    // cc  processor  ptx  shared      regs   file   thr  cpasync redux reduxf bf16 fp8cvt fp8mma stmat clust tma  wgmma tmem  vatom  256b
    { 75, "sm_75",   70,  64 * kKiB,  255, 65536, 1024, false, false, false, false, false, false, false, false, false, false, false, false, false},
    { 80, "sm_80",   70, 163 * kKiB,  255, 65536, 2048, true,  true,  false, false, false, false, false, false, false, false, false, false, false},
    { 86, "sm_86",   71,  99 * kKiB,  255, 65536, 1536, true,  true,  false, false, false, false, false, false, false, false, false, false, false},
    { 87, "sm_87",   74, 163 * kKiB,  255, 65536, 1536, true,  true,  false, false, false, false, false, false, false, false, false, false, false},
    { 89, "sm_89",   84,  99 * kKiB,  255, 65536, 1536, true,  true,  false, false, true,  true,  false, false, false, false, false, false, false},
    { 90, "sm_90a",  84, 227 * kKiB,  255, 65536, 2048, true,  true,  false, true,  true,  true,  true,  true,  true,  true,  false, true,  false},
    {100, "sm_100a", 86, 227 * kKiB,  255, 65536, 2048, true,  true,  true,  true,  true,  true,  true,  true,  true,  false, true,  true,  true},
    {103, "sm_103a", 88, 227 * kKiB,  255, 65536, 2048, true,  true,  true,  true,  true,  true,  true,  true,  true,  false, true,  true,  true},
    {120, "sm_120a", 87,  99 * kKiB,  255, 65536, 1536, true,  true,  false, true,  true,  true,  true,  true,  true,  false, false, true,  true},
    {121, "sm_121a", 88,  99 * kKiB,  255, 65536, 1536, true,  true,  false, true,  true,  true,  true,  true,  true,  false, false, true,  true},
    // clang-format on
};
} // namespace

std::string NVIDIATarget::targetString() const {
  return "cuda:" + std::to_string(computeCapability);
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
  auto attr = module->getAttrOfType<StringAttr>("ttg.target");
  if (!attr)
    return module.emitError("expected a 'ttg.target' attribute on the module, "
                            "such as \"cuda:90\"");
  std::optional<int> cc = parseNVIDIATargetString(attr.getValue());
  if (!cc)
    return module.emitError("expected 'ttg.target' of the form \"cuda:<compute "
                            "capability>\", found ")
           << attr;
  if (const NVIDIATarget *target = lookupNVIDIATarget(*cc))
    return target;
  InFlightDiagnostic diag = module.emitError("unknown target ") << attr;
  diag << ": known ones are ";
  llvm::interleaveComma(getNVIDIATargets(), diag, [&](const NVIDIATarget &t) {
    diag << t.targetString();
  });
  return diag;
}
