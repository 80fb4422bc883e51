//===-- PtxProgram.h - What PTX needs of the machine ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"

namespace tile::sim {

/// What only instructions of PTX wait for.
namespace PtxWait {
constexpr Wait own(unsigned number) {
  return Wait(unsigned(Wait::Own) + number);
}
inline constexpr Wait Group = own(0);        ///< the warp group's other warps
inline constexpr Wait TensorMemory = own(1); ///< free columns
inline constexpr Wait TensorPair = own(2);   ///< the CTA's peer, the same there
} // namespace PtxWait

struct PtxProgram : Program {
  /// Special registers have their values from the start.
  void enter(Ctx &c, Frame &frame) const override;
  /// Warps have as many registers as .maxnreg says, or as a CTA of this size
  /// may have.
  void start(Ctx &c, Frame &frame) const override;
  Obstacle describeWait(const Cta &cta, const Warp &warp,
                        const Fragment &f) const override;
  bool findRegister(const Code &code, std::string_view name,
                    RegisterPlace &place) const override;
  std::vector<std::string> registerNames(const Code &code) const override;

  /// Of a function, by the number of its code: its syntax tree, and the places
  /// of its symbols.
  struct Symbols {
    const ast::Function *function = nullptr;
    std::vector<uint32_t> slots;
  };
  std::vector<Symbols> symbols;
};

} // namespace tile::sim
