//===-- BulkCopy.h - Parts of the bulk copies -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../Mbarrier.h"
#include "../Memory.h"
#include "Families.h"

namespace tile::sim {

enum class BulkRed : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Element types of a reduction; tensor maps name theirs by number.
void bulkReduce(std::byte *to, const std::byte *from, uint64_t bytes,
                BulkRed op, Type type);

/// The operands that all forms share (slots as in Inst::op): what tensor copies
/// and plain ones decode into.
struct BulkDirection {
  Space to = Space::Generic, from = Space::Generic;
};

/// Places of a transfer into shared memory: the CTAs of the multicast, or one.
struct BulkTarget {
  std::byte *host;
  Cta *owner;
  uint32_t offset;
};
bool bulkTargets(Ctx &c, const Inst &inst, unsigned lane, uint64_t address,
                 uint64_t bytes, bool multicast, uint32_t ctaMask,
                 std::vector<BulkTarget> &out);
/// The engine that transfers to a target.
bool transferOf(Ctx &c, const Inst &inst, unsigned lane, uint64_t barrier,
                const std::vector<BulkTarget> &targets,
                const BulkTarget &target, uint32_t &engine);
/// The checker hears of a store: of its source (if `bytes`) and of a part of
/// its destination (if `size`).
void bulkStored(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                uint32_t offset, uint32_t bytes, uint64_t address,
                uint32_t size, bool reduces);
/// Tells the mbarrier of each target CTA that `bytes` have arrived; `barrier`
/// is an address in this CTA.
bool bulkArrived(Ctx &c, const Inst &inst, unsigned lane, uint64_t barrier,
                 const std::vector<BulkTarget> &targets, uint64_t bytes);

bool decodeTensorCopy(FunctionDecoder &d, const BulkDirection &direction,
                      BulkRed op);

} // namespace tile::sim
