//===-- OrderRequest.h - One instruction's accesses -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the files of the order checker share: who accesses, and how the accesses
// that memory remembers are found.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "OrderChecker.h"

namespace tile::sim {

/// Who accesses, and what they know.
struct OrderChecker::Observer {
  const Knowledge *known;
  uint32_t warp;  ///< of the cluster; none for a warp group
  uint32_t lanes; ///< whose own accesses are before this one
};

/// Excludes the other host threads, if there are any, from a page.
struct OrderChecker::PageLock {
  std::atomic_flag *flag = nullptr;
  ~PageLock() { release(); }
  void release() {
    if (flag)
      flag->clear(std::memory_order_release);
    flag = nullptr;
  }
  void take(std::atomic_flag &f) {
    if (flag == &f)
      return;
    release();
    while (f.test_and_set(std::memory_order_acquire))
      ;
    flag = &f;
  }
};

/// An instruction's accesses.
struct OrderChecker::Request {
  Ctx &c;
  const Inst &inst;
  Observer observer;
  Cta *owner;         ///< of the shared memory; null for global memory
  Event self;         ///< lanes and bytes are filled in for each access
  uint32_t bytes = 0; ///< of a lane
  const uint64_t *address = nullptr;
  bool asyncProxy = false;   ///< needs a proxy fence after generic writes
  bool mapProxy = false;     ///< the same, of another kind
  bool needsWritten = false; ///< reads shared memory that somebody must write
  bool reported = false;
  GlobalOrder::Page *page = nullptr; ///< of the last access
  PageLock lock;                     ///< of that page

  bool isWrite() const { return self.is(Event::Write); }
  /// One address for a lane: offsets in shared memory, addresses in global.
  uint64_t place(unsigned lane) const {
    return owner ? address[lane] & 0xffffff : address[lane];
  }
  const std::byte *memory(uint64_t at) const {
    return owner ? owner->shared.data() + at
                 : reinterpret_cast<const std::byte *>(at);
  }
  uint32_t granuleBytes() const {
    return owner ? SharedShadow::granuleBytes : GlobalOrder::granuleBytes;
  }
};

/// Calls f with everything that the granules of a range remember, or, of
/// granules that were divided, the words of the range.
template <class F>
void OrderChecker::eachEvent(Request &r, uint64_t at, uint32_t size, F f) {
  uint32_t granuleBytes = r.granuleBytes();
  uint64_t start = granuleStart(r, at), end = at + size;
  auto visit = [&](Cell &cell) {
    for (uint32_t i = 0; i < cell.size(); ++i)
      f(cell[i]);
  };
  for (uint64_t base = (at - start) / granuleBytes * granuleBytes + start;
       base < end; base += granuleBytes) {
    CellArena *arena;
    Cell *cell = granule(r, std::max(base, at), arena);
    if (!cell)
      continue;
    if (!cell->words) {
      visit(*cell);
      continue;
    }
    uint64_t last = std::min(base + granuleBytes, end);
    for (uint64_t w = std::max(base, at) / 4 * 4; w < last; w += 4)
      visit(cell->words[(w - base) / 4]);
  }
}

} // namespace tile::sim
