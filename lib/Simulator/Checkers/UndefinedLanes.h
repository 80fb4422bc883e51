//===-- UndefinedLanes.h - Lanes that a mask left without a value ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A masked load whose author gave no other value leaves the lanes undefined
// that the mask switches off. Code has zeros there. The compiler lists such
// loads behind the text of a kernel, by their places in the line table. A
// launch notes which of them had lanes switched off, and, if asked, gives these
// lanes other bytes than zero: what a kernel computes must not depend on them.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"

#include <map>
#include <string_view>

namespace tile::sim {

/// The loads that comments of a text list, such as
///   // undefined lanes: 12:22 kernel.py
std::vector<UndefinedLoad> listUndefinedLoads(std::string_view text);

/// Gives their files the folders that the line table has.
void findFolders(std::vector<UndefinedLoad> &loads,
                 const std::map<unsigned, std::string> &files);

/// Marks the instructions of these loads that may have lanes switched off.
void markUndefinedLoads(Code &code, const std::vector<UndefinedLoad> &loads,
                        const std::map<unsigned, std::string> &files);

/// What an instruction leaves in each byte of lanes that are switched off.
uint8_t undefinedByte(Ctx &c, const Inst &inst);

/// A load of PTX is about to run in the lanes of `mask` alone.
void leaveUndefined(Ctx &c, const Inst &inst, uint32_t mask);

} // namespace tile::sim
