//===-- Multimem.cpp - multimem on one GPU --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A multimem address stands for the same place in the memory of each GPU of a
// group. Here the group has one GPU: what is reduced over the group is what
// that GPU holds, and what goes to all goes to it.
//
//===----------------------------------------------------------------------===//
#include "Families.h"

using namespace tile::sim;

static bool decodeMultimem(FunctionDecoder &d) {
  int what = d.hasOneOf({"ld_reduce", "st", "red"});
  if (what < 0)
    return d.error("needs .ld_reduce, .st or .red");
  if (what == 0) {
    if (d.hasOneOf({"add", "min", "max", "and", "or", "xor"}) < 0)
      return d.error("needs an operation");
    std::string_view precision;
    d.hasPrefix("acc::", precision);
  }
  static constexpr std::string_view plain[] = {"ld", "st", "red"};
  return decodeTable().find(plain[what])->second(d);
}

void tile::sim::registerMultimem(DecodeTable &t) {
  t.insert({{"multimem", decodeMultimem}});
}
