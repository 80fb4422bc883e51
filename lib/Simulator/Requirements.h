//===-- Requirements.h - Targets and versions of PTX ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include <string>

namespace tile::sim {

/// Is there such a target in this version (10 * major + minor) of PTX? If not,
/// the message says what is wrong.
bool checkTarget(const std::string &name, unsigned version,
                 std::string &message);
/// Bytes of shared memory that a CTA may have on a known target.
unsigned mostSharedOf(const std::string &name);

} // namespace tile::sim
