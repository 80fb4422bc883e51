//===-- GlobalOrder.h - What the clusters of a launch share ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The accesses that global memory remembers, and what clusters publish to each
// other. A cluster's publications are numbered; another cluster that acquires
// one knows everything that the cluster had published until then. (That is
// somewhat more than it knows in truth: a race may be missed, but none is
// invented.)
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../Machine.h"
#include "Clock.h"
#include "Shadow.h"

#include <atomic>
#include <memory>
#include <unordered_map>

namespace tile::sim {

/// Shared memory of one CTA: cells for every 16 bytes, and which bytes were
/// written.
struct SharedShadow {
  static constexpr uint32_t granuleBytes = 16;
  std::vector<Cell> cells;
  std::vector<uint8_t> written;
  CellArena arena;
  uint32_t generation = 0;
  void start(uint32_t bytes);
};

/// Knowledge behind a global address that threads synchronize through.
struct GlobalLocation {
  uint32_t cluster = ~0u; ///< whose clocks `local` holds
  Knowledge local;

  /// Who acquires here with this scope learns this of other clusters.
  Knowledge visibleTo(uint32_t gpu, Inst::Scope scope) const;
  /// A release on a GPU.
  void show(uint32_t gpu, Inst::Scope scope,
            const std::shared_ptr<const Foreign> &published,
            const std::shared_ptr<const Foreign> &fenced);

private:
  struct Published {
    std::shared_ptr<const Foreign> foreign, fenced;
  };
  /// For all GPUs, and for the threads of one; by GPU.
  Published all;
  std::vector<Published> own;
};

class GlobalOrder {
public:
  static constexpr uint32_t granuleBytes = 32, pageBytes = 4096;
  explicit GlobalOrder(const Group &group);

  struct Page {
    Cell cells[pageBytes / granuleBytes];
    CellArena arena;
    uint64_t base = 0;
  };
  /// The page of an address in an allocation; null if there is none, or no
  /// memory is left for it.
  Page *page(uint64_t address);
  /// Excludes other host threads from a page.
  std::atomic_flag &lock(const Page *page) {
    return locks[(reinterpret_cast<uintptr_t>(page) >> 7) % std::size(locks)];
  }

  /// Do CTAs synchronize through global memory?
  const bool synchronizes;
  std::unordered_map<uint64_t, GlobalLocation> locations;
  std::mutex guard; ///< of locations, and of `with`
  /// Publishes a cluster's knowledge; returns the publication's number.
  uint32_t publish(uint32_t cluster, const Knowledge &what);
  /// Everything that a cluster published up to a number.
  std::shared_ptr<const Knowledge> published(uint32_t cluster,
                                             uint32_t count) const;
  /// A publication beside what else is known.
  std::shared_ptr<const Foreign>
  with(uint32_t cluster, uint32_t count,
       const std::shared_ptr<const Foreign> &known);

private:
  struct Region {
    uint64_t base, size;
    std::unique_ptr<std::atomic<Page *>[]> pages;
  };
  std::vector<Region> regions;
  std::vector<std::unique_ptr<Page>> owned;
  std::mutex making;
  std::atomic_flag locks[64] = {};
  struct Publications {
    Knowledge all;
    std::vector<std::shared_ptr<const Knowledge>> steps;
  };
  mutable std::mutex publishing; ///< of the publications
  std::vector<Publications> clusters;
  size_t kept = 0;
  std::shared_ptr<Foreign> everything;
  const bool parallel; ///< CTAs run on several host threads
};

} // namespace tile::sim
