//===-- Demangle.cpp - Names as the source has them -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Demangle.h"

#include <cstdlib>
#include <cxxabi.h>

std::string tile::sim::demangle(const std::string &name) {
  // Other names may be types: `a` is a signed char.
  if (!name.starts_with("_Z"))
    return name;
  int status = 0;
  char *text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : name;
  std::free(text);
  return result;
}
