//===-- Npy.h - NumPy array files -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tile::sim {

/// An array in memory: the type as NumPy spells it ("<f4"), the shape, the
/// bytes in C order.
struct Npy {
  std::string dtype;
  std::vector<uint64_t> shape;
  std::vector<std::byte> data;

  uint64_t count() const;
  unsigned itemSize() const;
  /// Each returns false with a message.
  bool read(const std::string &path, std::string &error);
  bool write(const std::string &path, std::string &error) const;
  /// An array of zeros, from "f32:128x4".
  bool zeros(const std::string &spec, std::string &error);
};

} // namespace tile::sim
