//===-- Refused.cpp - Instructions that the simulator knows but lacks -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Families.h"

using namespace tile::sim;

namespace {
bool refuseTensorMemory(FunctionDecoder &d) {
  return d.error("tensor memory (tcgen05) is not supported by the simulator");
}
bool refuseTexture(FunctionDecoder &d) {
  return d.error("textures and surfaces are not supported by the simulator");
}
bool refuseVideo(FunctionDecoder &d) {
  return d.error("video instructions are not supported by the simulator");
}
} // namespace

void tile::sim::registerRefused(DecodeTable &t) {
  t.insert({{"tcgen05", refuseTensorMemory}});
  for (const char *name :
       {"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})
    t.insert({name, refuseTexture});
  for (const char *name :
       {"vadd",      "vsub",      "vabsdiff", "vmin",  "vmax",  "vshl",
        "vshr",      "vmad",      "vset",     "vadd2", "vsub2", "vavrg2",
        "vabsdiff2", "vmin2",     "vmax2",    "vset2", "vadd4", "vsub4",
        "vavrg4",    "vabsdiff4", "vmin4",    "vmax4", "vset4"})
    t.insert({name, refuseVideo});
}
