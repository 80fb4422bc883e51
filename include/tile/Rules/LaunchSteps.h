//===-- LaunchSteps.h - What a launch computes of arguments -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A launch computes parts of tensor maps that the program did not ask for. The
// compiler writes the steps, and launchers and the simulator run them. So all
// of them have this one list, and this one meaning.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RULES_LAUNCHSTEPS_H
#define TILE_RULES_LAUNCHSTEPS_H

#include <algorithm>
#include <cstdint>

namespace tile::rules {

/// What a step computes. Numbers have 64 bits, and wrap around. Operands are
/// the numbers of steps before, but for those of the first two.
enum class LaunchStep : int64_t {
  Input,    ///< number of the input, bits of it, which have a sign
  Constant, ///< the number
  Add,
  Subtract,
  Multiply,
  Minimum,
  Maximum,
  Wrap, ///< the first operand in as many bits as the second says, with a sign
};

/// The last bits of a number, with a sign.
constexpr int64_t keepBits(uint64_t value, int64_t bits) {
  int64_t unused = 64 - bits;
  return unused > 0 ? int64_t(value << unused) >> unused : int64_t(value);
}

/// Appends what each step of `code` computes to `values`, which is empty. A
/// step is a `LaunchStep` and its two operands. `getInput` gives the bits of an
/// input by its number.
template <typename Code, typename Values, typename GetInput>
void runLaunchSteps(const Code &code, Values &values, GetInput &&getInput) {
  for (auto [number, first, second] : code) {
    auto step = LaunchStep(number);
    if (step == LaunchStep::Input) {
      values.push_back(keepBits(getInput(first), second));
      continue;
    }
    if (step == LaunchStep::Constant) {
      values.push_back(first);
      continue;
    }
    int64_t lhs = values[first];
    if (step == LaunchStep::Wrap) {
      values.push_back(keepBits(lhs, second));
      continue;
    }
    int64_t rhs = values[second];
    // Without a sign, C++ has numbers wrap around.
    uint64_t left = lhs, right = rhs;
    switch (step) {
    case LaunchStep::Add:
      values.push_back(left + right);
      break;
    case LaunchStep::Subtract:
      values.push_back(left - right);
      break;
    case LaunchStep::Multiply:
      values.push_back(left * right);
      break;
    case LaunchStep::Minimum:
      values.push_back(std::min(lhs, rhs));
      break;
    default:
      values.push_back(std::max(lhs, rhs));
      break;
    }
  }
}

} // namespace tile::rules

#endif // TILE_RULES_LAUNCHSTEPS_H
