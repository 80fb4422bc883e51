//===-- WaveRegisters.cpp - Registers by their names ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Wave.h"

#include <cstddef>

using namespace tile::sim;
using namespace tile::sim::amdgcn;

uint64_t WaveProgram::activeLanes(const Ctx &c, uint32_t) const {
  return execOf(c);
}

bool WaveProgram::findRegister(const Code &, std::string_view name,
                               RegisterPlace &place) const {
  Operand operand;
  Diagnostic ignored;
  if (!parseOperand(name, {}, operand, ignored) ||
      operand.kind != Operand::Kind::Register || operand.count > 2)
    return false;
  place = {};
  auto slotOf = [&](uint32_t reg) {
    if (operand.file == File::Scalar)
      return uint32_t(offsetof(Wave, scalar) + reg * 4);
    bool isAccumulator = operand.file == File::Accumulator;
    return vectorBase +
           (isAccumulator ? vectorCount + reg : reg) * waveLanes * 4;
  };
  uint32_t last = operand.reg + operand.count;
  if (last > (operand.file == File::Scalar   ? uint32_t(ScalarCount)
              : operand.file == File::Vector ? vectorCount
                                             : accumulatorCount))
    return false;
  place.slot = slotOf(operand.reg);
  place.stride = operand.file == File::Scalar ? 0 : 4;
  if (operand.count == 2)
    place.high = slotOf(operand.reg + 1);
  return true;
}

std::vector<std::string> WaveProgram::registerNames(const Code &) const {
  std::vector<std::string> names{"exec", "vcc", "scc", "m0"};
  for (uint32_t i = 0; i < 106; ++i)
    names.push_back("s" + std::to_string(i));
  for (uint32_t i = 0; i < vectorCount; ++i)
    names.push_back("v" + std::to_string(i));
  for (uint32_t i = 0; i < accumulatorCount; ++i)
    names.push_back("a" + std::to_string(i));
  return names;
}
