//===-- Memory.cpp - Bounds, alignment, access counters -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Memory.h"
#include "Checkers/DisjointChecker.h"
#include "Checkers/OrderChecker.h"
#include "ClusterAddress.h"
#include "Lanes.h"

#include "tile/Simulator/Demangle.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <functional>

using namespace tile::sim;

static std::string hex(uint64_t v) {
  char text[24];
  snprintf(text, sizeof text, "0x%" PRIx64, v);
  return text;
}

static const char *verb(Access access) {
  switch (access) {
  case Access::Load:
    return "load";
  case Access::Store:
    return "store";
  case Access::Atomic:
    return "atomic access";
  case Access::AsyncLoad:
    return "asynchronous load";
  default:
    return "asynchronous store";
  }
}

//===-- Global memory -----------------------------------------------------===//

static const Allocation *findAllocation(const Launch &launch,
                                        uint64_t address) {
  auto it = std::upper_bound(
      launch.group->allocations.begin(), launch.group->allocations.end(),
      address, [](uint64_t a, const Allocation &b) { return a < b.base; });
  return it == launch.group->allocations.begin() ? nullptr : &*std::prev(it);
}

bool tile::sim::isAllocated(const Launch &launch, uint64_t address,
                            uint64_t bytes) {
  const Allocation *a = findAllocation(launch, address);
  return a && address - a->base <= a->size &&
         a->size - (address - a->base) >= bytes;
}

/// The element of an array that an address is in, or would be in if the first
/// dimension were longer; nothing for memory whose shape is not known.
static std::string element(const Launch &launch, const Allocation &allocation,
                           uint64_t address) {
  // Of several arrays in one allocation, the last that begins before.
  const ArrayShape *array = nullptr;
  for (const ArrayShape &a : launch.config->arrays)
    if (a.base >= allocation.base &&
        a.base - allocation.base < allocation.size && a.elementBytes &&
        !a.sizes.empty() &&
        (!array || (a.base <= address && a.base >= array->base)))
      array = &a;
  if (!array)
    return "";
  int64_t bytes = int64_t(address - array->base), size = array->elementBytes,
          rest = (bytes >= 0 ? bytes : bytes - size + 1) / size;
  std::string index, shape;
  for (size_t i = array->sizes.size(); i-- > 0;) {
    int64_t extent = int64_t(array->sizes[i]), at = rest;
    if (i > 0) {
      if (!extent)
        return "";
      at = (rest % extent + extent) % extent;
      rest = (rest - at) / extent;
    }
    const char *comma = index.empty() ? "" : ", ";
    index = std::to_string(at) + comma + index;
    shape = std::to_string(extent) + comma + shape;
  }
  return "element [" + index + "] of " + array->element + "[" + shape + "]";
}

/// Says which allocation an address misses, and by how much.
static std::string nearest(const Launch &launch, uint64_t address,
                           uint64_t bytes) {
  if (address < 4096)
    return "null pointer";
  const Allocation *best = nullptr;
  uint64_t distance = ~uint64_t(0);
  bool before = false;
  for (const Allocation &a : launch.group->allocations) {
    uint64_t end = a.base + a.size;
    uint64_t gap = address < a.base ? a.base - address
                   : address >= end ? address - end
                                    : 0;
    if (gap < distance) {
      distance = gap;
      best = &a;
      before = address < a.base;
    }
  }
  if (!best)
    return "the launch has no allocations";
  std::string where = "'" + best->name + "' (" + std::to_string(best->size) +
                      " bytes at " + hex(best->base) + ")";
  if (std::string what = element(launch, *best, address); !what.empty())
    where += ", at " + what;
  if (!before && distance == 0 && address < best->base + best->size)
    return std::to_string(bytes - (best->base + best->size - address)) +
           " of its bytes are past the end of " + where;
  return std::to_string(distance) + " bytes " +
         (before ? "before the start of " : "past the end of ") + where;
}

std::string tile::sim::nameGlobal(const Launch &launch, uint64_t address) {
  const Allocation *a = findAllocation(launch, address);
  if (!a)
    return hex(address);
  std::string what = element(launch, *a, address);
  return "'" + a->name + "' + " + std::to_string(address - a->base) + " bytes" +
         (what.empty() ? "" : " (" + what + ")");
}

std::string tile::sim::nameShared(const Program &program, uint64_t at,
                                  uint64_t bytes) {
  for (const auto &[variable, range] : program.sharedNames) {
    auto [offset, size] = range;
    if (at < offset || at - offset >= size + Gap::bytes)
      continue;
    std::string name = demangle(variable);
    // A variable of a function has the function before it.
    if (size_t scope = name.rfind("::"); scope != std::string::npos)
      name = name.substr(scope + 2);
    uint64_t byte = at - offset;
    if (!bytes || byte % bytes)
      return name + " + " + std::to_string(byte) + " bytes";
    return name + "[" + std::to_string(byte / bytes) + "] (elements of " +
           std::to_string(bytes) + " bytes)";
  }
  return hex(at);
}

static bool checkGlobal(Ctx &c, const Inst &inst, unsigned lane,
                        uint64_t address, uint64_t bytes, bool write,
                        const char *what) {
  const Allocation *a = findAllocation(*c.launch, address);
  if (!a || address - a->base > a->size ||
      a->size - (address - a->base) < bytes) {
    c.fail(inst, lane, "out-of-bounds",
           std::string("global ") + what + " of " + std::to_string(bytes) +
               " bytes at " + hex(address) + ": " +
               nearest(*c.launch, address, bytes));
    return false;
  }
  if (write && !a->writable) {
    c.fail(inst, lane, "read-only",
           std::string("global ") + what + " of " + std::to_string(bytes) +
               " bytes at " + hex(address) + " writes to the read-only '" +
               a->name + "'");
    return false;
  }
  c.cachedLow = a->base;
  c.cachedHigh = a->base + a->size;
  c.cachedWritable = a->writable;
  return true;
}

std::byte *tile::sim::globalRange(Ctx &c, const Inst &inst, unsigned lane,
                                  uint64_t address, uint64_t bytes, bool write,
                                  const char *what) {
  return checkGlobal(c, inst, lane, address, bytes, write, what)
             ? reinterpret_cast<std::byte *>(address)
             : nullptr;
}

/// All lanes, one element after the other: what most requests look like.
static bool isDense(const uint64_t *address, uint32_t mask, unsigned bytes) {
  if (mask != FullMask)
    return false;
  uint64_t differs = 0;
  for (unsigned l = 0; l < Lanes; ++l)
    differs |= address[l] ^ (address[0] + uint64_t(l) * bytes);
  return differs == 0;
}

/// Distinct 32-byte sectors that a request touches.
static unsigned countSectors(const uint64_t *address, uint32_t mask,
                             unsigned bytes) {
  if (isDense(address, mask, bytes))
    return unsigned(((address[Lanes - 1] + bytes - 1) >> 5) -
                    (address[0] >> 5) + 1);
  uint64_t sectors[Lanes * 4];
  unsigned count = 0;
  bool sorted = true;
  uint64_t last = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint64_t a = address[std::countr_zero(m)];
    for (uint64_t s = a >> 5, end = (a + bytes - 1) >> 5;
         s <= end && count < Lanes * 4; ++s) {
      if (count && s == last)
        continue;
      sorted &= count == 0 || s > last;
      sectors[count++] = last = s;
    }
  }
  if (sorted)
    return count;
  std::sort(sectors, sectors + count);
  return unsigned(std::unique(sectors, sectors + count) - sectors);
}

/// Lanes outside the mask may have their place already, in another space.
template <class F>
static void setHosts(Translation &t, uint32_t mask, F address) {
  if (mask == FullMask)
    for (unsigned l = 0; l < Lanes; ++l)
      t.host[l] = reinterpret_cast<std::byte *>(address(l));
  else
    eachLane(mask, [&](unsigned l) {
      t.host[l] = reinterpret_cast<std::byte *>(address(l));
    });
}

/// Atomics on elements of 8 and 16 bits are done on the aligned word around
/// them, of which a part may lie outside the array. Such an atomic may leave
/// the array with bytes that it keeps, and the load before a compare-and-swap
/// with any but one.
static bool isWordAtTheEdge(const Ctx &c, unsigned lane, const Translation &t,
                            unsigned bytes, bool write) {
  uint64_t address = t.address[lane];
  if (bytes != 4 || address % 4)
    return false;
  unsigned needed = write ? 0xf & ~(t.kept ? t.kept[lane] : 0u) : 0;
  const Allocation *found[4], *only = nullptr;
  for (unsigned i = 0; i < 4; ++i) {
    const Allocation *a = findAllocation(*c.launch, address + i);
    bool isInside = a && address + i - a->base < a->size;
    found[i] = isInside && (!write || a->writable) ? a : nullptr;
    bool isNeeded = needed >> i & 1;
    if (isNeeded && (!found[i] || (only && only != found[i])))
      return false;
    if (isNeeded || (!needed && !only))
      only = found[i];
  }
  return only && std::any_of(std::begin(found), std::end(found),
                             [&](const Allocation *a) { return a != only; });
}

static bool translateGlobal(Ctx &c, const Inst &inst, uint32_t mask,
                            unsigned bytes, Access access, Translation &t) {
  if ((inst.order || access == Access::Atomic) && !awaitTurn(c))
    return false;
  bool write = access == Access::Store || access == Access::Atomic ||
               access == Access::AsyncStore;
  uint64_t place[Lanes];
  uint32_t edges = 0;
  auto isCached = [&](uint64_t a) {
    return a >= c.cachedLow && a < c.cachedHigh && c.cachedHigh - a >= bytes &&
           (!write || c.cachedWritable);
  };
  for (uint32_t m = inst.isSwap || t.kept ? mask : 0; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    if (!isCached(t.address[l]) && isWordAtTheEdge(c, l, t, bytes, write))
      edges |= 1u << l;
  }
  // The first lane finds the allocation; mostly it is that of all the others.
  unsigned first = firstLane(edges == mask ? mask : mask & ~edges);
  uint64_t start = t.address[first];
  if (edges != mask && !isCached(start) &&
      !checkGlobal(c, inst, first, start, bytes, write, verb(access)))
    return false;
  // Offsets are compared, so an address that wraps is outside.
  uint64_t low = c.cachedLow, room = c.cachedHigh - low - bytes;
  bool outside = edges;
  for (unsigned l = 0; l < Lanes; ++l) {
    outside |= bool(mask >> l & 1) & (t.address[l] - low > room);
    // A GPU's allocations start at multiples of 256; wherever the host put this
    // one, count as if it did.
    place[l] = t.address[l] - (low & 255);
  }
  setHosts(t, mask, [&](unsigned l) { return t.address[l]; });
  if (outside)
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      uint64_t a = t.address[l];
      if (!isCached(a) && !(edges >> l & 1) &&
          !checkGlobal(c, inst, l, a, bytes, write, verb(access)))
        return false;
      place[l] = a - (c.cachedLow & 255);
    }
  if (c.checker)
    c.checker->global(c, inst, mask, t.address, bytes, access);
  if (c.launch->disjoint)
    c.launch->disjoint->access(c, inst, mask, t.address, bytes);
  if (c.counting) {
    unsigned sectors = countSectors(place, mask, bytes);
    InstStats &s = c.stat(inst);
    ++s.requests;
    s.sectors += sectors;
    uint64_t moved = uint64_t(std::popcount(mask)) * bytes;
    s.bytes += moved;
    Counters &k = c.worker->counters;
    if (write) {
      ++k.globalStoreRequests;
      k.globalStoreSectors += sectors;
      k.globalStoreBytes += moved;
    }
    if (!write || access == Access::Atomic) {
      ++k.globalLoadRequests;
      k.globalLoadSectors += sectors;
      k.globalLoadBytes += moved;
    }
  }
  return true;
}

/// Does the access touch what lies between variables?
static bool leftVariable(Ctx &c, const Inst &inst, unsigned lane,
                         const char *space, const char *what, uint64_t at,
                         uint64_t bytes, const std::vector<Gap> &gaps) {
  const Gap *gap = Gap::find(gaps, at, bytes);
  if (gap)
    c.fail(inst, lane, "out-of-bounds",
           std::string(space) + " " + what + " of " + std::to_string(bytes) +
               " bytes at " +
               (std::string_view(space) == "shared"
                    ? nameShared(*c.launch->program, at, bytes)
                    : hex(at)) +
               " leaves the variable '" + gap->variable +
               "', which ends before " + hex(gap->offset));
  return gap;
}

//===-- Shared memory -----------------------------------------------------===//

std::byte *tile::sim::sharedRange(Ctx &c, const Inst &inst, unsigned lane,
                                  uint64_t address, uint64_t bytes,
                                  const char *what, Cta *&owner,
                                  uint32_t &offset) {
  owner = c.cta;
  uint64_t plain = uint32_t(address); // Sums of 32-bit addresses wrap.
  if (clusterPrefix(plain) != 0) {
    uint32_t rank = clusterRank(plain);
    if (rank >= c.cluster->ctas.size()) {
      c.fail(inst, lane, "out-of-bounds",
             std::string("shared ") + what + " of " + std::to_string(bytes) +
                 " bytes at " + hex(plain) + ": shared memory has " +
                 std::to_string(c.launch->sharedBytes) + " bytes");
      return nullptr;
    }
    owner = c.cluster->ctas[rank].get();
    plain &= clusterOffsetMask;
    if (owner->hasExited() && owner != c.cta) {
      c.fail(inst, lane, "exited-cta",
             std::string("shared ") + what + " to CTA rank " +
                 std::to_string(rank) + " of the cluster, which has exited");
      return nullptr;
    }
  }
  if (plain > owner->shared.size() || owner->shared.size() - plain < bytes) {
    c.fail(inst, lane, "out-of-bounds",
           std::string("shared ") + what + " of " + std::to_string(bytes) +
               " bytes at " + nameShared(*c.launch->program, plain, bytes) +
               ": shared memory has " + std::to_string(owner->shared.size()) +
               " bytes");
    return nullptr;
  }
  if (leftVariable(c, inst, lane, "shared", what, plain, bytes,
                   c.launch->program->sharedGaps))
    return nullptr;
  offset = uint32_t(plain);
  return owner->shared.data() + plain;
}

namespace {
/// The lowest and the highest of some lanes' addresses.
struct Extent {
  uint32_t low = ~0u, high = 0;
  /// Do words lie so close together that no two of them share a bank?
  bool isConflictFree(unsigned bytes, unsigned banks) const {
    return ((high + bytes - 1) >> 2) - (low >> 2) < banks;
  }
};
} // namespace

/// Sums of 32-bit addresses wrap.
static Extent extentOf(const uint64_t *address, uint32_t lanes,
                       unsigned count) {
  Extent e;
  for (unsigned l = 0; l < count; ++l) {
    uint32_t a = uint32_t(address[l]);
    bool active = lanes >> l & 1;
    e.low = std::min(e.low, active ? a : ~0u);
    e.high = std::max(e.high, active ? a : 0);
  }
  return e;
}

/// Passes over the banks that a request takes; the ideal is that each serves
/// one word in each of them.
template <unsigned Banks>
static void countBanksOf(Ctx &c, const Inst &inst, const uint64_t *address,
                         uint32_t mask, unsigned bytes, const Extent &extent) {
  // Lanes that are served at once.
  unsigned group = bytes <= Banks / 8 ? 32 : bytes <= Banks / 4 ? 16 : 8;
  unsigned wavefronts = 0, ideal = 0;
  for (unsigned first = 0; first < Lanes; first += group) {
    uint32_t part = mask >> first & (group == 32 ? ~0u : (1u << group) - 1);
    if (!part)
      continue;
    ++ideal;
    if (extent.isConflictFree(bytes, Banks) ||
        (group < Lanes &&
         extentOf(address + first, part, group).isConflictFree(bytes, Banks))) {
      ++wavefronts;
      continue;
    }
    uint32_t words[Lanes * 4];
    unsigned count = 0;
    for (uint32_t m = part; m; m &= m - 1) {
      uint32_t a = uint32_t(address[first + std::countr_zero(m)]);
      for (uint32_t w = a >> 2; w <= (a + bytes - 1) >> 2 && count < Lanes * 4;
           ++w)
        words[count++] = w;
    }
    // Each bank serves one word at a time; equal words are served together.
    std::sort(words, words + count);
    count = unsigned(std::unique(words, words + count) - words);
    uint8_t load[Banks] = {}, worst = 0;
    for (unsigned i = 0; i < count; ++i)
      worst = std::max(worst, ++load[words[i] % Banks]);
    wavefronts += std::max<unsigned>(worst, 1);
  }
  InstStats &s = c.stat(inst);
  s.wavefronts += wavefronts;
  s.conflicts += wavefronts - ideal;
  Counters &k = c.worker->counters;
  ++k.sharedRequests;
  k.sharedWavefronts += wavefronts;
  k.bankConflicts += wavefronts - ideal;
}

static void countBanks(Ctx &c, const Inst &inst, const uint64_t *address,
                       uint32_t mask, unsigned bytes, const Extent &extent) {
  if (c.launch->program->sharedBanks == 64)
    return countBanksOf<64>(c, inst, address, mask, bytes, extent);
  countBanksOf<32>(c, inst, address, mask, bytes, extent);
}

static bool translateShared(Ctx &c, const Inst &inst, uint32_t mask,
                            unsigned bytes, Access access, Translation &t) {
  auto memory = reinterpret_cast<uintptr_t>(c.cta->shared.data());
  uint64_t size = c.cta->shared.size();
  Extent extent = extentOf(t.address, mask, Lanes);
  if (clusterPrefix(extent.high)) {
    // Those that name this CTA are like those that name none.
    uint32_t own = clusterPrefix(clusterAddress(0, c.cta->rank));
    for (uint64_t &address : t.address)
      if (clusterPrefix(address) == own)
        address &= ~(uint64_t(255) << ClusterRankShift);
    extent = extentOf(t.address, mask, Lanes);
  }
  // Addresses of other CTAs carry a rank above all offsets, so they fail this.
  bool outside = size < bytes || extent.high > size - bytes;
  setHosts(t, mask,
           [&](unsigned l) { return memory + uint32_t(t.address[l]); });
  const std::vector<Gap> &gaps = c.launch->program->sharedGaps;
  if (!outside &&
      Gap::find(gaps, extent.low, uint64_t(extent.high) - extent.low + bytes))
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      if (leftVariable(c, inst, l, "shared", verb(access),
                       uint32_t(t.address[l]), bytes, gaps))
        return false;
    }
  if (!outside) {
    if (c.checker)
      c.checker->shared(c, inst, mask, *c.cta, t.address, bytes, access);
  } else {
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      Cta *owner;
      uint32_t offset;
      t.host[l] = sharedRange(c, inst, l, t.address[l], bytes, verb(access),
                              owner, offset);
      if (!t.host[l])
        return false;
      if (c.checker)
        c.checker->shared(c, inst, 1u << l, *owner, t.address, bytes, access);
    }
  }
  if (c.counting) {
    countBanks(c, inst, t.address, mask, bytes, extent);
    uint64_t moved = uint64_t(std::popcount(mask)) * bytes;
    (access == Access::Store || access == Access::AsyncStore
         ? c.worker->counters.sharedStoreBytes
         : c.worker->counters.sharedLoadBytes) += moved;
  }
  return true;
}

//===-- Local memory, parameters ------------------------------------------===//

static bool translateLocal(Ctx &c, const Inst &inst, uint32_t mask,
                           unsigned bytes, Access access, Translation &t) {
  uint64_t limit = c.frame->localEnd();
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t a = uint32_t(t.address[l]);
    if (a > limit || limit - a < bytes) {
      c.fail(inst, l, "out-of-bounds",
             std::string("local ") + verb(access) + " of " +
                 std::to_string(bytes) + " bytes at " + hex(a) +
                 ": the thread has " + std::to_string(limit) + " bytes");
      return false;
    }
    if (a >= c.frame->localBase &&
        leftVariable(c, inst, l, "local", verb(access), a - c.frame->localBase,
                     bytes, c.code->localGaps))
      return false;
    size_t at = size_t(c.laneBase + l) * c.warp->localStride + a;
    t.host[l] = c.warp->local.data() + at;
    uint8_t *written = c.warp->localWritten.data() + at;
    // Padding travels with what it is beside.
    if (access == Access::Load && (c.checks & CheckUninitialized) &&
        !c.launch->program->loadsKeepUnwritten &&
        std::all_of(written, written + bytes, std::logical_not<uint8_t>()))
      c.note(inst, l, "uninitialized",
             "read of " + std::to_string(bytes) + " bytes of local memory at " +
                 hex(a) + " that the thread has not written");
    else if (access != Access::Load)
      std::memset(written, 1, bytes);
  }
  if (c.counting)
    (access == Access::Load ? c.worker->counters.localLoadBytes
                            : c.worker->counters.localStoreBytes) +=
        uint64_t(std::popcount(mask)) * bytes;
  return true;
}

static bool translateParam(Ctx &c, const Inst &inst, uint32_t mask,
                           unsigned bytes, Access access, Translation &t) {
  uint64_t size = c.launch->args.size();
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(std::countr_zero(m));
    uint64_t a = uint32_t(t.address[l]);
    if (access != Access::Load) {
      c.fail(inst, l, "read-only", "a kernel's parameters cannot be written");
      return false;
    }
    if (a > size || size - a < bytes) {
      c.fail(inst, l, "out-of-bounds",
             "parameter load of " + std::to_string(bytes) + " bytes at " +
                 hex(a) + ": the parameters have " + std::to_string(size) +
                 " bytes");
      return false;
    }
    t.host[l] = const_cast<std::byte *>(c.launch->args.data()) + a;
  }
  return true;
}

//===-- All spaces --------------------------------------------------------===//

void tile::sim::gatherAddresses(const Ctx &c, const Inst &, uint32_t baseSlot,
                                int64_t offset, uint64_t *address) {
  if (baseSlot == NoSlot) {
    std::fill_n(address, Lanes,
                uint64_t(c.frame->localBase) + uint64_t(offset));
    return;
  }
  const uint64_t *base = c.src<uint64_t>(baseSlot);
  for (unsigned l = 0; l < Lanes; ++l)
    address[l] = base[l] + uint64_t(offset);
}

static bool translateSpace(Ctx &c, const Inst &inst, uint32_t mask, Space space,
                           unsigned bytes, Access access, Translation &t) {
  switch (space) {
  case Space::Shared:
  case Space::SharedCluster:
    return translateShared(c, inst, mask, bytes, access, t);
  case Space::Local:
    return translateLocal(c, inst, mask, bytes, access, t);
  case Space::Param:
    return translateParam(c, inst, mask, bytes, access, t);
  default:
    return translateGlobal(c, inst, mask, bytes, access, t);
  }
}

bool tile::sim::translate(Ctx &c, const Inst &inst, uint32_t mask, Space space,
                          unsigned bytes, Access access, Translation &t) {
  uint64_t low = 0;
  // The host aligns its arrays to 16 bytes only; a wider access is checked to
  // that.
  unsigned needed = std::min(
      bytes, space == Space::Global || space == Space::Generic ? 16u : bytes);
  for (unsigned l = 0; l < Lanes; ++l)
    low |= (mask >> l & 1) ? t.address[l] : 0;
  if (!inst.isUnaligned && (low & (needed - 1))) {
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      if (t.address[l] & (needed - 1)) {
        c.fail(inst, l, "misaligned",
               std::string(nameOf(space)) + " " + verb(access) + " of " +
                   std::to_string(bytes) + " bytes at " + hex(t.address[l]) +
                   " is not aligned");
        return false;
      }
    }
  }
  if (space != Space::Generic)
    return translateSpace(c, inst, mask, space, bytes, access, t);
  // Lanes of one request may point into different spaces.
  for (uint32_t left = mask; left;) {
    uint64_t window = t.address[std::countr_zero(left)] >> WindowShift;
    uint32_t same = 0;
    for (uint32_t m = left; m; m &= m - 1) {
      unsigned l = unsigned(std::countr_zero(m));
      same |= uint32_t((t.address[l] >> WindowShift) == window) << l;
    }
    Space actual = window == 1   ? Space::Shared
                   : window == 2 ? Space::Local
                   : window == 3 ? Space::Param
                                 : Space::Global;
    if (!translateSpace(c, inst, same, actual, bytes, access, t))
      return false;
    left &= ~same;
  }
  return true;
}
