//===-- Dialect.cpp - The tti dialect -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonInstrument/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton::instrument;

#include "tile/Dialect/TritonInstrument/IR/Dialect.cpp.inc"

void TritonInstrumentDialect::initialize() {}
