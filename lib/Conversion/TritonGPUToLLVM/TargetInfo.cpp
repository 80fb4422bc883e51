//===-- TargetInfo.cpp - What a backend tells the common lowering ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Conversion/TritonGPUToLLVM/TargetInfo.h"

using namespace mlir;
using namespace mlir::triton;

TargetInfo::~TargetInfo() = default;

void DeclineReasons::attachTo(Diagnostic &error) const {
  auto it = reasons.find(error.getLocation());
  if (error.getSeverity() != DiagnosticSeverity::Error || it == reasons.end())
    return;
  for (const std::string &reason : it->second)
    error.attachNote(error.getLocation()) << reason;
}
