//===-- Builtins.h - Functions the device runtime provides ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"

#include <string_view>

namespace tile::sim {

Builtin findBuiltin(std::string_view name);
unsigned builtinArguments(Builtin builtin);
/// The call's list in Code::ext holds local offsets: results (Inst::mod[0] of
/// them), then arguments.
Step runBuiltin(Ctx &c, const Inst &inst, uint32_t mask, Builtin builtin);

} // namespace tile::sim
