//===-- Diagnostic.h - One message with its place in the PTX --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>

namespace tile::sim {

struct Loc {
  uint32_t line = 0, column = 0;
};

/// The first error of a load; later ones are usually its echoes.
struct Diagnostic {
  Loc loc;
  std::string message;

  bool isSet() const { return !message.empty(); }
  /// Records the message unless one is already there; always false, so `return
  /// diag.error(...)`.
  bool error(Loc where, std::string text) {
    if (!isSet()) {
      loc = where;
      message = std::move(text);
    }
    return false;
  }
  std::string format(const std::string &file) const {
    return file + ":" + std::to_string(loc.line) + ":" +
           std::to_string(loc.column) + ": error: " + message;
  }
};

} // namespace tile::sim
