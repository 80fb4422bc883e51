//===-- Report.cpp - Summary and JSON of a launch -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "tile/Simulator/Report.h"
#include "tile/Simulator/Demangle.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

using namespace tile::sim;

static constexpr std::string_view classNames[] = {
    "integer", "logic",      "move",    "compare", "convert", "float32",
    "float16", "float64",    "special", "control", "load",    "store",
    "atomic",  "collective", "barrier", "async",   "tensor",  "other"};
static_assert(std::size(classNames) == size_t(Class::Count));
std::string_view tile::sim::nameOf(Class cls) {
  return classNames[size_t(cls)];
}

static std::string print(const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

std::string Place::format() const {
  std::string text = "assembly line " + std::to_string(line);
  if (!instruction.empty())
    text += " (" + instruction + ")";
  if (sourceLine)
    text += ", source " + (file.empty() ? std::string("line ") : file + ":") +
            std::to_string(sourceLine);
  if (callLine)
    text += ", inlined at " + callFile + ":" + std::to_string(callLine);
  return text;
}
std::string ThreadId::format() const {
  return (gpu < 0 ? "" : "GPU " + std::to_string(gpu) + " ") +
         print("cta (%u, %u, %u) thread (%u, %u, %u)", cta[0], cta[1], cta[2],
               thread[0], thread[1], thread[2]);
}
std::string Finding::format() const {
  std::string text = kind + ": " + message + "\n  at " + place.format() + ", " +
                     thread.format();
  if (hasOther)
    text += "\n  other access at " + otherPlace.format() + ", " +
            otherThread.format();
  return text;
}

uint64_t Counters::totalWarp() const {
  uint64_t sum = 0;
  for (uint64_t v : warpInstructions)
    sum += v;
  return sum;
}
uint64_t Counters::totalLane() const {
  uint64_t sum = 0;
  for (uint64_t v : laneInstructions)
    sum += v;
  return sum;
}

namespace {
struct Field {
  const char *name;
  uint64_t Counters::*value;
};
constexpr Field fields[] = {
    {"global_load_requests", &Counters::globalLoadRequests},
    {"global_load_sectors", &Counters::globalLoadSectors},
    {"global_load_bytes", &Counters::globalLoadBytes},
    {"global_store_requests", &Counters::globalStoreRequests},
    {"global_store_sectors", &Counters::globalStoreSectors},
    {"global_store_bytes", &Counters::globalStoreBytes},
    {"shared_load_bytes", &Counters::sharedLoadBytes},
    {"shared_store_bytes", &Counters::sharedStoreBytes},
    {"shared_requests", &Counters::sharedRequests},
    {"shared_wavefronts", &Counters::sharedWavefronts},
    {"bank_conflicts", &Counters::bankConflicts},
    {"local_load_bytes", &Counters::localLoadBytes},
    {"local_store_bytes", &Counters::localStoreBytes},
    {"async_bytes", &Counters::asyncBytes},
    {"atomics", &Counters::atomics},
    {"barriers", &Counters::barriers},
    {"branches", &Counters::branches},
    {"divergent_branches", &Counters::divergentBranches},
    {"tensor_flops", &Counters::tensorFlops},
    {"tensor_flops_8_bits", &Counters::tensorFlops8},
    {"tensor_flops_4_bits", &Counters::tensorFlops4},
    {"tensor_cycles", &Counters::tensorCycles},
    {"tensor_memory_bytes", &Counters::tensorMemoryBytes},
};

std::string quote(const std::string &text) {
  std::string out = "\"";
  for (char ch : text) {
    if (ch == '"' || ch == '\\')
      out += '\\';
    if (uint8_t(ch) < 0x20)
      out += print("\\u%04x", uint8_t(ch));
    else
      out += ch;
  }
  return out + "\"";
}
std::string triple(const std::array<unsigned, 3> &a) {
  return print("[%u, %u, %u]", a[0], a[1], a[2]);
}
std::string placeJson(const Place &p) {
  return "{\"line\": " + std::to_string(p.line) +
         ", \"instruction\": " + quote(p.instruction) +
         ", \"file\": " + quote(p.file) +
         ", \"source_line\": " + std::to_string(p.sourceLine) +
         ", \"source_column\": " + std::to_string(p.sourceColumn) +
         ", \"call_file\": " + quote(p.callFile) +
         ", \"call_line\": " + std::to_string(p.callLine) +
         ", \"call_column\": " + std::to_string(p.callColumn) + "}";
}
std::string threadJson(const ThreadId &t) {
  return "{\"cta\": " + triple(t.cta) + ", \"thread\": " + triple(t.thread) +
         (t.gpu < 0 ? "" : ", \"gpu\": " + std::to_string(t.gpu)) + "}";
}
std::string findingJson(const Finding &f) {
  std::string text = "{\"kind\": " + quote(f.kind) +
                     ", \"message\": " + quote(f.message) +
                     ", \"fatal\": " + (f.isFatal ? "true" : "false") +
                     ", \"place\": " + placeJson(f.place) +
                     ", \"thread\": " + threadJson(f.thread);
  if (f.hasOther)
    text += ", \"other_place\": " + placeJson(f.otherPlace) +
            ", \"other_thread\": " + threadJson(f.otherThread);
  return text + "}";
}
} // namespace

void Counters::add(const Counters &other) {
  for (size_t i = 0; i < size_t(Class::Count); ++i) {
    warpInstructions[i] += other.warpInstructions[i];
    laneInstructions[i] += other.laneInstructions[i];
  }
  for (const Field &f : fields)
    this->*f.value += other.*f.value;
}

std::string Report::summary(const Gpu *asked) const {
  const Gpu &gpu = asked ? *asked : *Gpu::find(this->gpu);
  std::string text = demangle(entry) +
                     print("  grid (%u, %u, %u)  block (%u, %u, %u)", grid[0],
                           grid[1], grid[2], block[0], block[1], block[2]);
  if (cluster[0] * cluster[1] * cluster[2] > 1)
    text += print("  cluster (%u, %u, %u)", cluster[0], cluster[1], cluster[2]);
  text += print("  shared %u bytes\n", sharedBytes);
  text += print("%-22s %14" PRIu64 " warp  %16" PRIu64 " lane  in %.3f s\n",
                "instructions", counters.totalWarp(), counters.totalLane(),
                seconds);
  for (size_t i = 0; i < size_t(Class::Count); ++i)
    if (counters.warpInstructions[i])
      text += print("  %-20s %14" PRIu64 " warp  %16" PRIu64 " lane\n",
                    classNames[i].data(), counters.warpInstructions[i],
                    counters.laneInstructions[i]);
  for (const Field &f : fields)
    if (counters.*f.value)
      text += print("%-22s %14" PRIu64 "\n", f.name, counters.*f.value);
  if (counters.globalLoadRequests)
    text += print("%-22s %14.2f\n", "sectors per load",
                  double(counters.globalLoadSectors) /
                      double(counters.globalLoadRequests));
  if (counters.globalStoreRequests)
    text += print("%-22s %14.2f\n", "sectors per store",
                  double(counters.globalStoreSectors) /
                      double(counters.globalStoreRequests));
  if (occupancy.waves)
    text += print("%-22s %14u waves a SIMD unit, for want of %s (%u vector, %u "
                  "scalar registers)\n",
                  "occupancy", occupancy.waves, occupancy.bound.c_str(),
                  occupancy.vectorRegisters, occupancy.scalarRegisters);
  Roofline r = roofline(gpu);
  text += print(
      "%-22s %11.3f us (%s bound; memory %.3f, tensor %.3f, issue %.3f)\n",
      (std::string(gpu.name) + " at least").c_str(), r.estimate * 1e6,
      r.bound.c_str(), r.memory * 1e6, r.tensor * 1e6, r.issue * 1e6);
  if (!output.empty())
    text += "output:\n" + output;
  if (findings.empty())
    text += "no findings\n";
  for (const Finding &f : findings)
    text += f.format() + "\n";
  return text;
}

std::string Report::rooflineJson(const Gpu *asked, double blocks) const {
  const Gpu &gpu = asked ? *asked : *Gpu::find(this->gpu);
  Roofline r = roofline(gpu, blocks);
  return print("{\"gpu\": \"%s\", \"clock\": %.9g, \"seconds\": %.9g, "
               "\"memory\": %.9g, "
               "\"tensor\": %.9g, \"issue\": %.9g, \"shared\": %.9g, "
               "\"special\": %.9g, \"tensor_memory\": %.9g, "
               "\"expected\": %.9g, \"bound\": \"%s\"}",
               std::string(gpu.name).c_str(), gpu.clock, r.estimate, r.memory,
               r.tensor, r.issue, r.shared, r.special, r.tensorMemory,
               r.expected, r.bound.c_str());
}

std::string Report::toJson(const Gpu *asked) const {
  std::string text =
      "{\"entry\": " + quote(entry) + ", \"ok\": " + (ok ? "true" : "false") +
      ", \"grid\": " + triple(grid) + ", \"block\": " + triple(block) +
      ", \"cluster\": " + triple(cluster);
  text += ", \"shared_bytes\": " + std::to_string(sharedBytes) +
          ", \"threads\": " + std::to_string(threads) +
          print(", \"seconds\": %.6f", seconds);
  if (occupancy.waves)
    text += print(", \"occupancy\": {\"waves\": %u, \"most\": %u, "
                  "\"bound\": \"%s\", "
                  "\"vector_registers\": %u, \"scalar_registers\": %u}",
                  occupancy.waves, occupancy.most, occupancy.bound.c_str(),
                  occupancy.vectorRegisters, occupancy.scalarRegisters);
  text += ", \"counters\": {\"warp_instructions\": " +
          std::to_string(counters.totalWarp()) +
          ", \"lane_instructions\": " + std::to_string(counters.totalLane());
  for (const Field &f : fields)
    text += ", \"" + std::string(f.name) +
            "\": " + std::to_string(counters.*f.value);
  text += ", \"by_class\": {";
  bool first = true;
  for (size_t i = 0; i < size_t(Class::Count); ++i)
    if (counters.warpInstructions[i]) {
      text +=
          std::string(first ? "" : ", ") + "\"" + std::string(classNames[i]) +
          "\": {\"warp\": " + std::to_string(counters.warpInstructions[i]) +
          ", \"lane\": " + std::to_string(counters.laneInstructions[i]) + "}";
      first = false;
    }
  text += "}}, \"lines\": [";
  first = true;
  for (auto &[key, line] : lines) {
    text +=
        std::string(first ? "" : ", ") + "{\"file\": " + quote(key.first) +
        ", \"line\": " + std::to_string(key.second) +
        ", \"warp_instructions\": " + std::to_string(line.warpInstructions) +
        ", \"lane_instructions\": " + std::to_string(line.laneInstructions) +
        ", \"requests\": " + std::to_string(line.requests) +
        ", \"sectors\": " + std::to_string(line.sectors) +
        ", \"bytes\": " + std::to_string(line.bytes) +
        ", \"predicated_lanes\": " + std::to_string(line.predicatedLanes) +
        ", \"masked_lanes\": " + std::to_string(line.maskedLanes) +
        ", \"bank_conflicts\": " + std::to_string(line.bankConflicts) + "}";
    first = false;
  }
  text += "], \"uncovered\": [";
  first = true;
  for (auto &[file, line] : uncovered) {
    text += std::string(first ? "" : ", ") + "{\"file\": " + quote(file) +
            ", \"line\": " + std::to_string(line) + "}";
    first = false;
  }
  text += "], \"roofline\": " + rooflineJson(asked);
  text += ", \"output\": " + quote(output) + ", \"findings\": [";
  first = true;
  for (const Finding &f : findings) {
    text += (first ? "" : ", ") + findingJson(f);
    first = false;
  }
  return text + "]}";
}
