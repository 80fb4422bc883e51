//===-- Tcgen05.h - What the instructions of tensor memory share ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../../Checkers/TensorOrder.h"
#include "../../TensorMemory.h"
#include "Families.h"

namespace tile::sim {

/// [register+offset] of tensor memory; the sum has 32 bits.
struct TensorOperand {
  uint32_t slot = NoSlot, offset = 0;
  bool take(FunctionDecoder &d, const ast::Operand &operand);
  /// Into Inst::op[to] and, the offset, into Inst::target.
  static bool takeInto(FunctionDecoder &d, size_t index, unsigned to);
  static uint32_t addressOf(const Ctx &c, const Inst &inst, unsigned from,
                            unsigned lane) {
    return uint32_t(c.src<uint64_t>(inst.op[from])[lane]) + inst.target;
  }
};

/// Takes .cta_group::1 or ::2 and returns which; 0 after an error.
unsigned takeCtaGroup(FunctionDecoder &d);

/// The CTA's peer in a pair; null after recording an error.
Cta *pairPeer(Ctx &c, const Inst &inst, unsigned lane);
/// The CTAs of an instruction with cta_group::`group`, the even one first;
/// false after recording an error.
bool ctasOfGroup(Ctx &c, const Inst &inst, unsigned lane, unsigned group,
                 std::vector<Cta *> &out);

// Each takes what follows the opcode's first modifier, which is taken.
bool decodeTcgen05Alloc(FunctionDecoder &d);
bool decodeTcgen05Dealloc(FunctionDecoder &d);
bool decodeTcgen05Relinquish(FunctionDecoder &d);
bool decodeTcgen05Load(FunctionDecoder &d);
bool decodeTcgen05Store(FunctionDecoder &d);
bool decodeTcgen05Wait(FunctionDecoder &d, bool stores);
bool decodeTcgen05Copy(FunctionDecoder &d);
bool decodeTcgen05Shift(FunctionDecoder &d);
bool decodeTcgen05Mma(FunctionDecoder &d);
bool decodeTcgen05Commit(FunctionDecoder &d);
bool decodeTcgen05Fence(FunctionDecoder &d, bool after);

} // namespace tile::sim
