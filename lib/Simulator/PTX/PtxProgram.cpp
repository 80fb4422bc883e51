//===-- PtxProgram.cpp - Registers by their names -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PtxProgram.h"
#include "Decoder.h"

using namespace tile::sim;

static bool isRegister(const ast::Variable &v, uint32_t slot) {
  return v.space == Space::Reg && v.vector == 1 && slot != NoSlot;
}

bool PtxProgram::findRegister(const Code &code, std::string_view name,
                              RegisterPlace &place) const {
  if (code.index >= symbols.size() || !symbols[code.index].function)
    return false;
  const Symbols &of = symbols[code.index];
  const std::vector<ast::Variable> &known = of.function->symbols;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].name != name || !isRegister(known[i], of.slots[i]))
      continue;
    static const uint32_t bytes[] = {4, 4, 8, 16};
    SlotClass cls = classOf(known[i].type);
    place = {};
    place.slot = of.slots[i];
    place.bytes = place.stride = bytes[size_t(cls)];
    place.isPredicate = cls == SlotClass::Pred;
    return true;
  }
  return false;
}

std::vector<std::string> PtxProgram::registerNames(const Code &code) const {
  std::vector<std::string> names;
  if (code.index >= symbols.size() || !symbols[code.index].function)
    return names;
  const Symbols &of = symbols[code.index];
  for (size_t i = 0; i < of.slots.size(); ++i)
    if (const ast::Variable &v = of.function->symbols[i];
        isRegister(v, of.slots[i]))
      names.push_back(v.name);
  return names;
}
