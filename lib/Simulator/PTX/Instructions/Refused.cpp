//===-- Refused.cpp - Instructions that the simulator knows but lacks -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

using namespace tile::sim;

namespace {
bool refuseTexture(FunctionDecoder &d) {
  return d.error("textures and surfaces are not supported by the simulator");
}
} // namespace

void tile::sim::registerRefused(DecodeTable &t) {
  for (const char *name :
       {"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})
    t.insert({name, refuseTexture});
}
