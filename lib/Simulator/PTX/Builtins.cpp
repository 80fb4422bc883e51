//===-- Builtins.cpp - vprintf, __assertfail, malloc, free ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Builtins.h"
#include "../Memory.h"

#include <bit>
#include <cinttypes>
#include <cstring>

using namespace tile::sim;

Builtin tile::sim::findBuiltin(std::string_view name) {
  return name == "vprintf"        ? Builtin::Vprintf
         : name == "__assertfail" ? Builtin::AssertFail
         : name == "malloc"       ? Builtin::Malloc
         : name == "free"         ? Builtin::Free
                                  : Builtin::None;
}

unsigned tile::sim::builtinArguments(Builtin builtin) {
  return builtin == Builtin::Vprintf      ? 2
         : builtin == Builtin::AssertFail ? 5
                                          : 1;
}

static uint64_t localValue(Ctx &c, unsigned lane, uint32_t offset,
                           unsigned bytes) {
  uint64_t value = 0;
  std::memcpy(&value,
              c.warp->local.data() + size_t(lane) * c.warp->localStride +
                  c.frame->localBase + offset,
              bytes);
  return value;
}

/// Bytes at a generic address, or null.
static const std::byte *readable(Ctx &c, unsigned lane, uint64_t address,
                                 uint64_t bytes) {
  uint64_t window = address >> WindowShift,
           plain = address & ((uint64_t(1) << WindowShift) - 1);
  if (window == 2)
    return plain + bytes <= c.warp->localStride
               ? c.warp->local.data() + size_t(lane) * c.warp->localStride +
                     plain
               : nullptr;
  if (window == 1)
    return plain + bytes <= c.cta->shared.size() ? c.cta->shared.data() + plain
                                                 : nullptr;
  return window == 0 && isAllocated(*c.launch, address, bytes)
             ? reinterpret_cast<const std::byte *>(address)
             : nullptr;
}

static std::string text(Ctx &c, unsigned lane, uint64_t address) {
  std::string out;
  for (const std::byte *p; out.size() < 4096 &&
                           (p = readable(c, lane, address + out.size(), 1)) &&
                           *p != std::byte{0};)
    out += char(*p);
  return out;
}

/// One conversion of printf with its argument, which lies aligned in the
/// argument buffer.
static void formatArgument(Ctx &c, unsigned lane, std::string spec,
                           uint64_t &cursor, std::string &out) {
  char kind = spec.back();
  bool isLong = spec.find('l') != std::string::npos ||
                spec.find('z') != std::string::npos ||
                spec.find('j') != std::string::npos;
  bool wide = isLong || std::strchr("eEfFgGaAsp", kind);
  unsigned bytes = wide ? 8 : 4;
  cursor = (cursor + bytes - 1) / bytes * bytes;
  uint64_t value = 0;
  if (const std::byte *p = readable(c, lane, cursor, bytes))
    std::memcpy(&value, p, bytes);
  cursor += bytes;
  std::string flags =
      spec.substr(0, spec.find_first_of("hlzjtL", 0) == std::string::npos
                         ? spec.size() - 1
                         : spec.find_first_of("hlzjtL"));
  char buffer[512];
  if (std::strchr("eEfFgGaA", kind))
    snprintf(buffer, sizeof buffer, (flags + kind).c_str(),
             std::bit_cast<double>(value));
  else if (kind == 's')
    snprintf(buffer, sizeof buffer, (flags + "s").c_str(),
             text(c, lane, value).c_str());
  else if (kind == 'c')
    snprintf(buffer, sizeof buffer, (flags + "c").c_str(), int(value));
  else if (kind == 'p')
    snprintf(buffer, sizeof buffer, "0x%" PRIx64, value);
  else if (kind == 'd' || kind == 'i')
    snprintf(buffer, sizeof buffer, (flags + "lld").c_str(),
             isLong ? (long long)(value) : (long long)(int32_t(value)));
  else
    snprintf(buffer, sizeof buffer, (flags + "ll" + kind).c_str(),
             (unsigned long long)(isLong ? value : uint32_t(value)));
  out += buffer;
}

static std::string format(Ctx &c, unsigned lane, const std::string &pattern,
                          uint64_t arguments) {
  std::string out;
  uint64_t cursor = arguments;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    size_t end = pattern.find_first_not_of("0123456789+-# .*hlzjtL", i + 1);
    if (end == std::string::npos)
      break;
    if (pattern[end] == '%')
      out += '%';
    else if (std::strchr("diouxXeEfFgGaAcsp", pattern[end])) {
      std::string spec = pattern.substr(i, end - i + 1);
      for (size_t star; (star = spec.find('*')) != std::string::npos;) {
        cursor = (cursor + 3) / 4 * 4;
        int32_t width = 0;
        if (const std::byte *p = readable(c, lane, cursor, 4))
          std::memcpy(&width, p, 4);
        cursor += 4;
        spec.replace(star, 1, std::to_string(width));
      }
      formatArgument(c, lane, spec, cursor, out);
    }
    i = end;
  }
  return out;
}

static Step assertFail(Ctx &c, const Inst &inst, uint32_t mask) {
  unsigned lane = firstLane(mask);
  const uint32_t *args = &c.code->ext[inst.ext + inst.mod[0]];
  std::string message = text(c, lane, localValue(c, lane, args[0], 8)),
              file = text(c, lane, localValue(c, lane, args[1], 8));
  std::string function = text(c, lane, localValue(c, lane, args[3], 8));
  return c.fail(inst, lane, "assert",
                file + ":" + std::to_string(localValue(c, lane, args[2], 4)) +
                    ": " + function + ": assertion '" + message + "' failed");
}

Step tile::sim::runBuiltin(Ctx &c, const Inst &inst, uint32_t mask,
                           Builtin builtin) {
  if (builtin == Builtin::AssertFail)
    return assertFail(c, inst, mask);
  const uint32_t *list = &c.code->ext[inst.ext];
  const uint32_t *args = list + inst.mod[0];
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint64_t result = 0;
    if (builtin == Builtin::Vprintf) {
      std::string line =
          format(c, lane, text(c, lane, localValue(c, lane, args[0], 8)),
                 localValue(c, lane, args[1], 8));
      result = line.size();
      std::lock_guard lock(c.launch->group->outputLock);
      std::string &out = c.launch->output[c.cta->linear];
      if (out.size() < (size_t(1) << 20))
        out += line;
    } else if (builtin == Builtin::Malloc) {
      return c.fail(inst, lane, "unsupported",
                    "malloc in a kernel is not supported");
    } else {
      return c.fail(inst, lane, "unsupported",
                    "free in a kernel is not supported");
    }
    if (inst.mod[0]) {
      c.markLocal(lane, c.frame->localBase + list[0], 4);
      std::memcpy(c.warp->local.data() + size_t(lane) * c.warp->localStride +
                      c.frame->localBase + list[0],
                  &result, 4);
    }
  }
  return Step::Next;
}
