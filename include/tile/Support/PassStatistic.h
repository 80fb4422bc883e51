//===-- PassStatistic.h - Counters of passes --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// MLIR's own statistics are empty where LLVM was built for release, and so are
// what its -mlir-pass-statistics prints. These count in every build; the
// declarations that TableGen makes of our passes use them (tile_pass_decls in
// cmake/TileTargets.cmake). -pass-statistics prints them, TILE_PASS_STATISTICS
// does in Python.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_SUPPORT_PASSSTATISTIC_H
#define TILE_SUPPORT_PASSSTATISTIC_H

#include "mlir/Pass/Pass.h"
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace mlir::triton {

/// A counter of a pass. All instances of the pass share it, in all threads.
class PassStatistic {
public:
  struct Value {
    std::string pass, name, description;
    uint64_t count;
  };

  PassStatistic(Pass *owner, const char *name, const char *description)
      : counter(getCounter(owner->getArgument(), name, description)) {}

  PassStatistic &operator++() { return *this += 1; }
  void operator++(int) { *this += 1; }
  PassStatistic &operator+=(uint64_t more) {
    counter.fetch_add(more, std::memory_order_relaxed);
    return *this;
  }

  /// All counters of the process that are not zero, by pass and name.
  static std::vector<Value> getAll() {
    Table &table = getTable();
    std::lock_guard<std::mutex> lock(table.mutex);
    std::vector<Value> values;
    for (auto &[key, entry] : table.entries)
      if (uint64_t count = entry.counter.load())
        values.push_back({key.first, key.second, entry.description, count});
    return values;
  }

  static void resetAll() {
    Table &table = getTable();
    std::lock_guard<std::mutex> lock(table.mutex);
    for (auto &[key, entry] : table.entries)
      entry.counter = 0;
  }

private:
  struct Entry {
    std::string description;
    std::atomic<uint64_t> counter{0};
  };
  struct Table {
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, Entry> entries;
  };

  static Table &getTable() {
    // Passes may outlive other objects of static storage: this one stays.
    static Table *table = new Table;
    return *table;
  }

  static std::atomic<uint64_t> &getCounter(StringRef pass, const char *name,
                                           const char *description) {
    Table &table = getTable();
    std::lock_guard<std::mutex> lock(table.mutex);
    Entry &entry = table.entries[{pass.str(), name}];
    entry.description = description;
    return entry.counter;
  }

  std::atomic<uint64_t> &counter;
};

} // namespace mlir::triton

#endif // TILE_SUPPORT_PASSSTATISTIC_H
