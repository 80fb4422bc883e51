//===-- Shadow.h - What memory remembers of its accesses ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Memory is divided into granules. As long as all accesses cover whole granules
// with neighbouring lanes side by side, a granule has one cell. Most requests
// do. The first access to a part of it gives every word a cell of its own. A
// cell holds the accesses that no later one makes superfluous: usually the last
// write and the reads since.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tile::sim {

/// An access that memory remembers.
struct Event {
  uint32_t time = 0; ///< of its warp or engine
  uint32_t inst = 0; ///< as OrderChecker::site numbers it, from 1
  /// Of the warp; of an engine: the thread that issued it. In a granule of n
  /// elements the lanes take turns: its first lane has element 0, the n-th lane
  /// element n - 1, the next one element 0 again.
  uint32_t lanes = 0;
  uint32_t cluster = 0;    ///< number in the grid
  uint16_t agent = 0;      ///< warp of the cluster, or engine
  uint32_t readBefore = 0; ///< of a write: where its thread had read the place
  uint8_t bytes = 0;       ///< of a word: its bytes. Of a granule: bytes a lane
  uint8_t flags = 0;
  uint8_t laneBase = 0; ///< of the lanes, in a wave of more than 32
  enum Flags : uint8_t {
    Write = 1,
    Strong = 2,   ///< atomic, volatile, or with an order
    Engine = 4,   ///< by an asynchronous engine
    CtaScope = 8, ///< strong for threads of the same CTA only
    ClusterScope = 16,
    GpuScope = CtaScope | ClusterScope, ///< the widest is the system's
    Init = 32,                          ///< mbarrier.init
    Generic = 64,                       ///< by the generic proxy
    Swap = 128, ///< compare and swap, or a read that one compares with
  };
  bool is(Flags f) const { return flags & f; }
};

struct Cell {
  static constexpr unsigned inlineEvents = 3;
  Event events[inlineEvents];
  std::vector<Event> *more = nullptr;
  Cell *words = nullptr; ///< of a granule that was divided
  uint32_t generation = 0;
  uint32_t count = 0;

  uint32_t size() const { return count; }
  Event &operator[](uint32_t i) {
    return i < inlineEvents ? events[i] : (*more)[i - inlineEvents];
  }
};

/// Owns what cells point to.
class CellArena {
public:
  std::vector<Event> *list();
  Cell *words(unsigned count);
  /// Everything handed out may be handed out again.
  void recycle() { usedLists = usedWords = 0; }

private:
  std::vector<std::unique_ptr<std::vector<Event>>> lists;
  std::vector<std::unique_ptr<Cell[]>> blocks;
  size_t usedLists = 0, usedWords = 0;
};

/// Which of a granule's lanes access one of its `count` elements.
inline uint32_t lanesOf(uint32_t lanes, unsigned element, unsigned count) {
  uint32_t found = 0;
  for (unsigned i = 0; lanes;
       lanes &= lanes - 1, i = i + 1 == count ? 0 : i + 1)
    if (i == element)
      found |= lanes & (0 - lanes);
  return found;
}

void append(Cell &cell, CellArena &arena, const Event &event);
void erase(Cell &cell, uint32_t index);
/// Gives each word of a granule its own cell.
void divide(Cell &cell, CellArena &arena, unsigned granuleBytes);

} // namespace tile::sim
