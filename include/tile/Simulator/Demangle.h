//===-- Demangle.h - Names as the source has them -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace tile::sim {

/// The name of a C++ function or variable as its source has it; other names
/// stay as they are.
std::string demangle(const std::string &name);

} // namespace tile::sim
