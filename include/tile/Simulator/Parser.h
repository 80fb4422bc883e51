//===-- Parser.h - PTX text to syntax tree --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "tile/Simulator/Ast.h"

#include <string_view>

namespace tile::sim {

/// Parses one PTX module. Returns false and fills `diag` at the first error.
bool parseModule(std::string_view text, ast::Module &module, Diagnostic &diag);

} // namespace tile::sim
