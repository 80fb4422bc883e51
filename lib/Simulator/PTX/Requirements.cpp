//===-- Requirements.cpp - What instructions need of target and version ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ptxas refuses an instruction that the module's .target or .version does not
// have. The table names families whose requirement is later than sm_70 and PTX
// 6.3. A row holds for an opcode with modifiers that begin so. The first such
// row counts.
//
//===----------------------------------------------------------------------===//
#include "Requirements.h"

#include "Decoder.h"
#include "tile/Simulator/Gpus.h"

#include <algorithm>

using namespace tile::sim;

namespace {
struct Target {
  unsigned sm;
  unsigned version;   ///< of PTX that knows it first: 10 * major + minor
  unsigned sharedKiB; ///< that a CTA may have at most
  /// Variants: 'a' and 'f' stand behind the number.
  std::string_view variants = "";
  unsigned processors = 132; ///< of a GPU that has it
};
constexpr Target targets[] = {{20, 20, 48},
                              {30, 31, 48},
                              {32, 40, 48},
                              {35, 31, 48},
                              {37, 41, 48},
                              {50, 40, 48},
                              {52, 41, 48},
                              {53, 42, 48},
                              {60, 50, 48},
                              {61, 50, 48},
                              {62, 50, 48},
                              {70, 60, 96},
                              {72, 61, 96},
                              {75, 63, 64},
                              {80, 70, 163, "", 108},
                              {86, 71, 99},
                              {87, 74, 163},
                              {88, 90, 163},
                              {89, 78, 99},
                              {90, 78, 227, "a"},
                              {100, 86, 227, "af", 148},
                              {101, 86, 227, "af"},
                              {103, 88, 227, "af", 148},
                              {110, 90, 227, "af"},
                              {120, 87, 99, "af", 170},
                              {121, 88, 99, "af"}};

/// Lists of targets, for what later ones do not have, either.
constexpr std::string_view hopper = "90a",
                           tensorMemory = "100a 100f 103a 103f 110a 110f",
                           tensorMemoryExact = "100a 103a 110a",
                           integerTensors = "100a 110a",
                           loadReduces = "103a 103f 110a 110f",
                           reduxFloats = "100a 100f 103a 103f",
                           blockScales = "120a 120f 121a 121f",
                           blockScalesExact = "120a 121a";

struct Requirement {
  std::string_view opcode, modifier, other; ///< a prefix of a modifier, or ""
  unsigned sm, version;
  /// Of `sm` or later ones: all; or only those for one architecture or family.
  enum Where : uint8_t { Later, Specific } where = Later;
  std::string_view only = {}; ///< a list of targets instead
};
constexpr Requirement requirements[] = {
    {"wgmma", "sp", "", 90, 82, Requirement::Later, hopper},
    {"wgmma", "", "", 90, 80, Requirement::Later, hopper},
    {"tcgen05", "ld", "red", 103, 88, Requirement::Later, loadReduces},
    {"tcgen05", "shift", "", 100, 86, Requirement::Later, tensorMemoryExact},
    {"tcgen05", "mma", "kind::i8", 100, 86, Requirement::Later, integerTensors},
    {"tcgen05", "sp", "kind::mxf4", 100, 86, Requirement::Later,
     tensorMemoryExact},
    {"tcgen05", "scale_vec", "kind::mxf4nvf4", 100, 87, Requirement::Later,
     tensorMemoryExact},
    {"tcgen05", "mma", "scale_vec", 100, 86, Requirement::Later,
     tensorMemoryExact},
    {"tcgen05", "mma", "block16", 100, 88, Requirement::Later, tensorMemory},
    {"tcgen05", "mma", "block32", 100, 88, Requirement::Later, tensorMemory},
    {"tcgen05", "mma", "kind::mxf4nvf4", 100, 87, Requirement::Later,
     tensorMemory},
    {"tcgen05", "", "", 100, 86, Requirement::Later, tensorMemory},
    {"clusterlaunchcontrol", "multicast", "", 100, 86, Requirement::Specific},
    {"clusterlaunchcontrol", "", "", 100, 86},
    {"setmaxnreg", "", "", 90, 80, Requirement::Specific},
    {"tensormap", "", "", 90, 82, Requirement::Specific},
    {"cp", "async", "cp_mask", 100, 86},
    {"cp", "async", "cta_group", 100, 86, Requirement::Later, tensorMemory},
    {"cp", "tile::scatter4", "", 100, 86, Requirement::Later, tensorMemory},
    {"cp", "im2col::w::128", "", 100, 86, Requirement::Later, tensorMemory},
    {"cp", "tile::gather4", "shared::cluster", 100, 86, Requirement::Later,
     tensorMemory},
    {"cp", "tile::gather4", "prefetch", 100, 86, Requirement::Later,
     tensorMemory},
    {"cp", "tile::gather4", "", 100, 86},
    {"cp", "im2col::w", "shared::cluster", 100, 86, Requirement::Later,
     tensorMemory},
    {"cp", "im2col::w", "", 100, 86},
    {"cp", "async", "bulk", 90, 80},
    {"cp", "reduce", "", 90, 80},
    {"cp", "async", "L2::", 80, 74},
    {"cp", "async", "", 80, 70},
    {"mbarrier", "try_wait", "", 90, 78},
    {"mbarrier", "expect_tx", "", 90, 80},
    {"mbarrier", "complete_tx", "", 90, 80},
    {"mbarrier", "", "", 80, 70},
    {"barrier", "cluster", "", 90, 78},
    {"mapa", "", "", 90, 78},
    {"getctarank", "", "", 90, 78},
    {"fence", "proxy", "async", 90, 80},
    {"fence", "mbarrier_init", "", 90, 80},
    {"elect", "", "", 90, 80},
    {"griddepcontrol", "", "", 90, 78},
    {"redux", "f32", "", 100, 86, Requirement::Later, reduxFloats},
    {"redux", "", "", 80, 70},
    {"ldmatrix", "m16n16", "", 100, 86, Requirement::Specific},
    {"ldmatrix", "m8n16", "", 100, 86, Requirement::Specific},
    {"ldmatrix", "", "", 75, 65},
    {"stmatrix", "m16n8", "", 100, 86, Requirement::Specific},
    {"stmatrix", "", "", 90, 78},
    {"movmatrix", "", "", 75, 78},
    {"mma", "sp", "kind::mxf4", 120, 87, Requirement::Later, blockScalesExact},
    {"mma", "block_scale", "", 120, 87, Requirement::Later, blockScales},
    {"mma", "kind", "e2m1", 120, 87, Requirement::Later, blockScales},
    {"mma", "kind", "e2m3", 120, 87, Requirement::Later, blockScales},
    {"mma", "kind", "e3m2", 120, 87, Requirement::Later, blockScales},
    {"mma", "kind", "", 100, 86, Requirement::Specific},
    {"mma", "sp::ordered_metadata", "", 80, 85},
    {"mma", "e4m3", "", 89, 84},
    {"mma", "e5m2", "", 89, 84},
    {"mma", "bf16", "", 80, 70},
    {"mma", "tf32", "", 80, 70},
    {"st", "async", "release", 100, 87},
    {"st", "async", "", 90, 81},
    {"st", "bulk", "", 100, 86},
    // Accesses of 32 bytes.
    {"ld", "v8", "", 100, 88},
    {"ld", "v4", "b64", 100, 88},
    {"ld", "v4", "u64", 100, 88},
    {"ld", "v4", "s64", 100, 88},
    {"ld", "v4", "f64", 100, 88},
    {"ld", "v2", "b128", 100, 88},
    {"st", "v8", "", 100, 88},
    {"st", "v4", "b64", 100, 88},
    {"st", "v4", "u64", 100, 88},
    {"st", "v4", "s64", 100, 88},
    {"st", "v4", "f64", 100, 88},
    {"st", "v2", "b128", 100, 88},
    // Eviction priorities and sizes to fetch.
    {"createpolicy", "", "", 80, 74},
    {"ld", "L2::cache_hint", "", 80, 74},
    {"ld", "L2::", "", 75, 74},
    {"ld", "L1::", "", 70, 74},
    {"st", "L2::cache_hint", "", 80, 74},
    {"st", "L1::", "", 70, 74},
    {"red", "async", "", 90, 81},
    {"red", "L2::cache_hint", "", 80, 74},
    {"atom", "L2::cache_hint", "", 80, 74},
    {"prefetch", "L2::", "", 80, 74},
    {"applypriority", "", "", 80, 74},
    {"discard", "", "", 80, 74},
    {"multimem", "", "", 90, 81},
    {"ex2", "bf16", "", 90, 78},
    {"tanh", "bf16", "", 90, 78},
    {"tanh", "", "", 75, 70},
    {"add", "f32x2", "", 100, 86},
    {"sub", "f32x2", "", 100, 86},
    {"mul", "f32x2", "", 100, 86},
    {"fma", "f32x2", "", 100, 86},
    {"add", "f32", "f16", 100, 86},
    {"add", "f32", "bf16", 100, 86},
    {"sub", "f32", "f16", 100, 86},
    {"sub", "f32", "bf16", 100, 86},
    {"fma", "f32", "f16", 100, 86},
    {"fma", "f32", "bf16", 100, 86},
    {"add", "bf16", "", 90, 78},
    {"sub", "bf16", "", 90, 78},
    {"mul", "bf16", "", 90, 78},
    {"fma", "oob", "", 90, 81},
    {"fma", "bf16", "", 80, 70},
    {"neg", "bf16", "", 80, 70},
    {"abs", "bf16", "", 80, 70},
    {"min", "bf16", "", 80, 70},
    {"max", "bf16", "", 80, 70},
    {"min", "f16", "", 80, 70},
    {"max", "f16", "", 80, 70},
    {"setp", "bf16", "", 90, 78},
    {"set", "bf16", "", 90, 78},
    {"cvt", "e2m1", "", 100, 86, Requirement::Specific},
    {"cvt", "e2m3", "", 100, 86, Requirement::Specific},
    {"cvt", "e3m2", "", 100, 86, Requirement::Specific},
    {"cvt", "ue8m0", "", 100, 86, Requirement::Specific},
    {"cvt", "e4m3", "", 89, 81},
    {"cvt", "e5m2", "", 89, 81},
    {"cvt", "bf16", "", 80, 70},
    {"cvt", "f16x2", "", 80, 70},
    {"cvt", "tf32", "", 80, 70},
};

/// "sm_90a" to 90 and 'a'; 0 for anything else.
unsigned splitTarget(std::string_view name, char &variant) {
  variant = 0;
  if (name.substr(0, 3) != "sm_" || name.size() < 4 || name.size() > 7)
    return 0;
  unsigned sm = 0;
  for (char c : name.substr(3)) {
    if (variant)
      return 0;
    if (c >= '0' && c <= '9')
      sm = sm * 10 + unsigned(c - '0');
    else
      variant = c;
  }
  return sm;
}

/// "100a 110a" to "sm_100a or sm_110a"; empty if the target is in the list.
std::string spellOthers(std::string_view list, unsigned sm, char variant) {
  std::string out, own = std::to_string(sm) + variant;
  while (!list.empty()) {
    std::string_view name = list.substr(0, list.find(' '));
    if (name == own)
      return "";
    list.remove_prefix(std::min(name.size() + 1, list.size()));
    out += (out.empty() ? "sm_" : list.empty() ? " or sm_" : ", sm_");
    out += name;
  }
  return out;
}

std::string spell(unsigned version) {
  return std::to_string(version / 10) + "." + std::to_string(version % 10);
}
} // namespace

Device tile::sim::deviceOf(const std::string &name) {
  char variant;
  unsigned sm = splitTarget(name, variant);
  Device device;
  // Of earlier GPUs, kernels are ranked as on the one that they were measured
  // on.
  device.gpu = sm == 120 || sm == 121   ? "RTX 5090"
               : sm == 103              ? "B300"
               : sm == 100 || sm == 110 ? "B200"
                                        : "H200";
  for (const Target &t : targets)
    if (t.sm == sm) {
      device.mostShared = t.sharedKiB * 1024;
      device.processors = t.processors;
      device.mostClusterCtas = sm < 90 ? 1 : 16;
    }
  return device;
}

SimulatedGpu tile::sim::ptx::gpuOf(const std::string &target) {
  Device device = deviceOf(target);
  return {Gpu::find(device.gpu), device.processors};
}

bool tile::sim::checkTarget(const std::string &name, unsigned version,
                            std::string &message) {
  char variant;
  unsigned sm = splitTarget(name, variant);
  const Target *known =
      std::find_if(std::begin(targets), std::end(targets),
                   [&](const Target &t) { return t.sm == sm; });
  if (known == std::end(targets) ||
      (variant && known->variants.find(variant) == std::string_view::npos)) {
    message = "unknown target '" + name + "'";
    return false;
  }
  // Family targets came later than the others.
  unsigned needed = variant == 'f'               ? std::max(known->version, 88u)
                    : variant && known->sm == 90 ? 80
                                                 : known->version;
  if (version < needed)
    message =
        "target '" + name + "' needs .version " + spell(needed) + " or later";
  return version >= needed;
}

bool FunctionDecoder::meetsRequirements() const {
  char variant;
  unsigned sm = splitTarget(builder.module.target, variant);
  // PTX 9.0 gave sm_101 the name sm_110.
  if (sm == 101)
    sm = 110;
  unsigned version =
      builder.module.versionMajor * 10 + builder.module.versionMinor;
  auto names = [&](std::string_view prefix) {
    return prefix.empty() ||
           std::any_of(in->modifiers.begin(), in->modifiers.end(),
                       [&](const std::string &m) {
                         return m.compare(0, prefix.size(), prefix) == 0;
                       });
  };
  for (const Requirement &r : requirements) {
    if (r.opcode != in->opcode || !names(r.modifier) || !names(r.other))
      continue;
    if (std::string others =
            r.only.empty() ? std::string() : spellOthers(r.only, sm, variant);
        !others.empty())
      return error("needs .target " + others);
    if (r.where == Requirement::Specific && !(sm >= r.sm && variant))
      return error("needs a target of one architecture, such as sm_90a");
    if (sm < r.sm)
      return error("needs .target sm_" + std::to_string(r.sm) + " or later");
    if (version < r.version)
      return error("needs .version " + spell(r.version) + " or later");
    return true;
  }
  return true;
}
