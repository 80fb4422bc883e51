//===-- UndefinedLanes.cpp - Lanes that a mask left without a value -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "UndefinedLanes.h"

#include <algorithm>
#include <charconv>
#include <cstring>

using namespace tile::sim;

std::vector<UndefinedLoad>
tile::sim::listUndefinedLoads(std::string_view text) {
  constexpr std::string_view key = " undefined lanes: ";
  std::vector<UndefinedLoad> loads;
  for (size_t at = text.find(key); at != text.npos; at = text.find(key, at)) {
    at += key.size();
    std::string_view rest = text.substr(at, text.find('\n', at) - at);
    auto number = [&](unsigned &value) {
      auto [end, error] =
          std::from_chars(rest.data(), rest.data() + rest.size(), value);
      rest.remove_prefix(size_t(end - rest.data()));
      bool good = error == std::errc() && !rest.empty();
      if (good)
        rest.remove_prefix(1);
      return good;
    };
    UndefinedLoad load;
    if (number(load.line) && number(load.column)) {
      load.file = rest;
      loads.push_back(std::move(load));
    }
  }
  return loads;
}

static std::string_view nameOfFile(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

void tile::sim::findFolders(std::vector<UndefinedLoad> &loads,
                            const std::map<unsigned, std::string> &files) {
  for (UndefinedLoad &load : loads)
    for (const auto &[number, path] : files)
      if (nameOfFile(path) == load.file) {
        load.file = path;
        break;
      }
}

/// Loads and copies that can have a mask. PTX has a guard or the size that they
/// read, AMDGCN the bounds of a buffer. Or registers whose lanes are undefined
/// (AMDGCN/Global.cpp).
static bool mayBeMasked(const Inst &inst) {
  if (inst.space == Space::Reg)
    return true;
  if (inst.micro)
    return false;
  bool isGlobal = inst.space == Space::Global || inst.space == Space::Generic;
  return (inst.cls == Class::Load && isGlobal) || inst.cls == Class::Async;
}

void tile::sim::markUndefinedLoads(
    Code &code, const std::vector<UndefinedLoad> &loads,
    const std::map<unsigned, std::string> &files) {
  if (loads.empty())
    return;
  code.undefinedLoads.resize(code.sources.size());
  for (size_t s = 0; s < code.sources.size(); ++s) {
    const ast::SourceLoc &loc = code.sources[s];
    auto file = files.find(loc.file);
    if (file == files.end())
      continue;
    auto found =
        std::find_if(loads.begin(), loads.end(), [&](const UndefinedLoad &l) {
          return l.line == loc.line && l.column == loc.column &&
                 nameOfFile(l.file) == nameOfFile(file->second);
        });
    if (found != loads.end())
      code.undefinedLoads[s] = uint32_t(found - loads.begin()) + 1;
  }
  for (Inst &inst : code.insts)
    if (inst.source >= 0 && mayBeMasked(inst) &&
        code.undefinedLoads[size_t(inst.source)])
      inst.watch |= Inst::Undefined;
}

uint8_t tile::sim::undefinedByte(Ctx &c, const Inst &inst) {
  if (!(inst.watch & Inst::Undefined))
    return 0;
  uint32_t load = c.code->undefinedLoads[size_t(inst.source)] - 1;
  std::vector<bool> &seen = c.worker->undefinedLoads;
  if (load >= seen.size())
    seen.resize(load + 1);
  seen[load] = true;
  const LaunchConfig &config = *c.launch->config;
  return config.undefinedLoad < 0 || config.undefinedLoad == int(load)
             ? config.undefinedByte
             : 0;
}

void tile::sim::leaveUndefined(Ctx &c, const Inst &inst, uint32_t mask) {
  uint32_t lanes = c.active & ~mask;
  if (!lanes || inst.cls != Class::Load || inst.guard == NoSlot)
    return;
  uint8_t byte = undefinedByte(c, inst);
  if (!byte)
    return;
  // As a load does: what is wider than the element is extended with zeros, as
  // the zeros in the place of others are.
  unsigned bytes = bytesOf(inst.type);
  uint64_t value = 0;
  std::memset(&value, byte, std::min(bytes, 8u));
  for (uint32_t i = 0; i < inst.extCount; ++i) {
    uint32_t slot = c.code->ext[inst.ext + i];
    if (slot == NoSlot || (slot & ConstBit))
      continue;
    // Registers of 64 bits and more have lanes of 8 bytes.
    bool wide = inst.mod[1] >= 64;
    for (uint32_t m = lanes; m; m &= m - 1) {
      auto l = unsigned(std::countr_zero(m));
      if (!wide)
        c.dst<uint32_t>(slot)[l] = uint32_t(value);
      else
        c.dst<uint64_t>(slot)[l] = value;
      if (bytes > 8)
        c.dst<uint64_t>(slot)[Lanes + l] = value;
    }
  }
}
