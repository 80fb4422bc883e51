//===-- TargetRow.h - What Python reads of a backend's table ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each backend has a table of its targets, and hands its rows to Python in this
// form (see cmake/TileBackends.cmake).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TARGET_TARGETROW_H
#define TILE_TARGET_TARGETROW_H

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mlir::triton {

struct TargetRow {
  using Fact = std::variant<bool, int, std::string>;

  /// As in `ttg.target`.
  std::string target;
  /// By the names of the columns in Python.
  std::vector<std::pair<std::string, Fact>> facts;
};

} // namespace mlir::triton

#endif // TILE_TARGET_TARGETROW_H
