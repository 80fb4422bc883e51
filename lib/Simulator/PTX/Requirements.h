//===-- Requirements.h - Targets and versions of PTX ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Program.h"

#include <string>

namespace tile::sim {

/// Is there such a target in this version (10 * major + minor) of PTX? If not,
/// the message says what is wrong.
bool checkTarget(const std::string &name, unsigned version,
                 std::string &message);
/// Facts of a known target.
Device deviceOf(const std::string &name);

} // namespace tile::sim
