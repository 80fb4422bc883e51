//===-- Memory.h - From PTX addresses to host memory ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "Machine.h"

namespace tile::sim {

enum class Access : uint8_t { Load, Store, Atomic, AsyncLoad, AsyncStore };

/// One warp's access: where each lane's bytes are.
struct Translation {
  uint64_t address[Lanes];
  std::byte *host[Lanes];
  /// Of an atomic on a word: bit i of a lane's entry says that byte i stays as
  /// it is, whatever it is. Null if nothing is known.
  const uint8_t *kept = nullptr;
};

/// The bytes of a word in which an operand is neutral, or in which the new
/// value of a compare-and-swap is what it compares with.
inline uint8_t keptBytes(uint32_t operand, uint32_t neutral) {
  uint8_t kept = 0;
  for (unsigned i = 0; i < 4; ++i)
    kept |= uint8_t(((operand ^ neutral) >> 8 * i & 0xff) == 0) << i;
  return kept;
}

/// Fills `address` from the instruction's base register and offset.
void gatherAddresses(const Ctx &c, const Inst &inst, uint32_t baseSlot,
                     int64_t offset, uint64_t *address);

/// Checks bounds and alignment, counts, runs the checkers, and fills `host`.
/// Returns false after recording an error.
bool translate(Ctx &c, const Inst &inst, uint32_t mask, Space space,
               unsigned bytes, Access access, Translation &t);

/// One range of shared memory of any CTA of the cluster; null after recording
/// an error.
std::byte *sharedRange(Ctx &c, const Inst &inst, unsigned lane,
                       uint64_t address, uint64_t bytes, const char *what,
                       Cta *&owner, uint32_t &offset);
/// One range of global memory; null after recording an error.
std::byte *globalRange(Ctx &c, const Inst &inst, unsigned lane,
                       uint64_t address, uint64_t bytes, bool write,
                       const char *what);
/// Is the range inside one allocation?
bool isAllocated(const Launch &launch, uint64_t address, uint64_t bytes);

} // namespace tile::sim
