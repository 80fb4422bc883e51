//===-- Findings.cpp - Records what a kernel did wrong --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Machine.h"

#include <algorithm>

using namespace tile::sim;

Place Launch::place(const Code &in, const Inst &inst) const {
  Place p;
  p.line = inst.line;
  p.instruction = inst.name;
  if (inst.source >= 0 && size_t(inst.source) < in.sources.size()) {
    const ast::SourceLoc &loc = in.sources[size_t(inst.source)];
    p.sourceLine = loc.line;
    p.sourceColumn = loc.column;
    auto fileOf = [&](unsigned number) {
      auto it = files->find(number);
      return it == files->end() ? std::string() : it->second;
    };
    p.file = fileOf(loc.file);
    p.callLine = loc.callLine;
    p.callColumn = loc.callColumn;
    if (loc.callLine)
      p.callFile = fileOf(loc.callFile);
  }
  return p;
}

ThreadId Launch::threadOf(std::array<unsigned, 3> in, uint32_t warpIndex,
                          unsigned lane) const {
  const auto &block = config->block;
  unsigned t = warpIndex * program->waveLanes + lane;
  return {in,
          {t % block[0], t / block[0] % block[1], t / block[0] / block[1]},
          group->launches.size() > 1 ? int(gpu) : -1};
}
ThreadId Ctx::thread(unsigned lane) const {
  return threadOf(*cta, warp->index, laneBase + lane);
}

Step Ctx::fail(const Inst &inst, unsigned lane, const char *kind,
               std::string message) {
  Finding f;
  f.kind = kind;
  f.message = std::move(message);
  f.place = place(*code, inst);
  f.thread = thread(lane);
  worker->findings.push_back({cta->linear, std::move(f)});
  launch->group->stop = true;
  return Step::Error;
}

void Ctx::note(const Inst &inst, unsigned lane, const char *kind,
               std::string message, const Inst *other, const Code *otherCode,
               const ThreadId *otherThread, const Launch *otherLaunch) {
  static constexpr size_t most = 32;
  if (worker->findings.size() >= most)
    return;
  Finding f;
  f.kind = kind;
  f.place = place(*code, inst);
  f.isFatal = false;
  if (other) {
    f.hasOther = true;
    f.otherPlace =
        (otherLaunch ? otherLaunch : launch)->place(*otherCode, *other);
    f.otherThread = *otherThread;
  }
  for (auto &[where, known] : worker->findings)
    if (known.kind == f.kind && known.place.line == f.place.line &&
        known.otherPlace.line == f.otherPlace.line)
      return;
  f.message = std::move(message);
  f.thread = thread(lane);
  worker->findings.push_back({cta->linear, std::move(f)});
}
