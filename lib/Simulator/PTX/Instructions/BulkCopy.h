//===-- BulkCopy.h - Parts of the bulk copies -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include "../../Mbarrier.h"
#include "../../Memory.h"
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
  /// The mbarrier that hears of the bytes; what the checker calls the transfer.
  uint64_t barrier = 0;
  Cta *barrierOwner = nullptr;
  uint32_t barrierOffset = 0, engine = 0, time = 0;
};
/// `ofPair`: with .cta_group::2 the mbarrier may be in the other CTA of a pair.
bool bulkTargets(Ctx &c, const Inst &inst, unsigned lane, uint64_t address,
                 uint64_t bytes, bool multicast, uint32_t ctaMask,
                 uint64_t barrier, std::vector<BulkTarget> &out,
                 bool ofPair = false);
/// The checker hears of the writes; the sources' reads came before.
void bulkIssued(Ctx &c, const Inst &inst, unsigned lane,
                std::vector<BulkTarget> &targets, uint64_t bytes);
/// The checker hears of a store: of its source (if `bytes`) and of a part of
/// its destination (if `size`).
void bulkStored(Ctx &c, const Inst &inst, unsigned lane, Cta &owner,
                uint32_t offset, uint32_t bytes, uint64_t address,
                uint32_t size, bool reduces);
/// Tells the mbarrier of each target that `bytes` have arrived.
bool bulkArrived(Ctx &c, const Inst &inst, unsigned lane,
                 const std::vector<BulkTarget> &targets, uint64_t bytes);

/// clusterlaunchcontrol (ClusterLaunch.cpp).
bool decodeClusterLaunch(FunctionDecoder &d);

bool decodeTensorCopy(FunctionDecoder &d, const BulkDirection &direction,
                      BulkRed op);

} // namespace tile::sim
