//===-- Collect.cpp - The report of a launch from its workers -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Launch.h"
#include "Timeline.h"

#include <map>
#include <set>

using namespace tile::sim;

void tile::sim::collect(Launch &launch, std::span<Worker> all, Report &report) {
  const Program &program = *launch.program;
  std::vector<Worker *> workers;
  for (size_t i = launch.gpu; i < all.size();
       i += launch.group->launches.size())
    workers.push_back(&all[i]);
  const LaunchConfig &config = *launch.config;
  report.grid = config.grid;
  report.block = config.block;
  report.cluster = config.cluster;
  report.sharedBytes = program.sharedBytes() + config.dynamicShared;
  report.gpu = program.device.gpu;
  for (const Allocation &allocation : config.allocations)
    report.reach += allocation.size;
  program.describe(report);
  std::multimap<uint64_t, Finding> findings; // in the order of the CTAs
  for (Worker *w : workers) {
    report.counters.add(w->counters);
    for (auto &f : w->findings)
      findings.insert(std::move(f));
  }
  for (auto &[cta, f] : findings) {
    bool known = false;
    for (const Finding &g : report.findings)
      known |= g.kind == f.kind && g.place.line == f.place.line &&
               g.otherPlace.line == f.otherPlace.line;
    if (!known)
      report.findings.push_back(std::move(f));
  }
  for (auto &timeline : launch.timelines)
    timeline->print(report.timeline);
  if (!launch.timelines.empty())
    report.chain = launch.timelines.front()->getEnd();
  report.ok = report.findings.empty() &&
              launch.group->finished == launch.group->clusterCount;
  for (auto &[cta, text] : launch.output)
    report.output += text;
  std::set<uint32_t> undefined;
  for (Worker *w : workers)
    for (uint32_t i = 0; i < w->undefinedLoads.size(); ++i)
      if (w->undefinedLoads[i])
        undefined.insert(i);
  report.undefinedLoads.assign(undefined.begin(), undefined.end());
  std::set<std::pair<std::string, uint32_t>> covered;
  for (size_t k = 0; k < program.codes.size(); ++k) {
    const Code &code = *program.codes[k];
    for (size_t i = 0; i < code.insts.size(); ++i) {
      const Inst &inst = code.insts[i];
      InstStats sum;
      for (Worker *w : workers)
        sum.add(w->stats[k][i]);
      if (inst.micro)
        continue;
      // The line, and the one into which it was inlined from another file.
      std::vector<std::pair<std::string, uint32_t>> keys;
      auto addLine = [&](unsigned number, unsigned line) {
        auto file = launch.files->find(number);
        keys.push_back(
            {file == launch.files->end() ? "?" : file->second, line});
      };
      if (inst.source >= 0 && size_t(inst.source) < code.sources.size()) {
        const ast::SourceLoc &loc = code.sources[size_t(inst.source)];
        addLine(loc.file, loc.line);
        if (loc.callLine)
          addLine(loc.callFile, loc.callLine);
      } else {
        keys.push_back({"", inst.line});
      }
      // A branch that is not taken has run.
      bool ran = sum.lanes || (sum.warps && inst.cls == Class::Control);
      (ran ? covered : report.uncovered).insert(keys.begin(), keys.end());
      if (sum.warps == 0)
        continue;
      report.counters.warpInstructions[size_t(inst.cls)] += sum.warps;
      report.counters.laneInstructions[size_t(inst.cls)] += sum.lanes;
      bool isMasked = inst.guard != NoSlot && inst.space == Space::Global &&
                      (inst.cls == Class::Load || inst.cls == Class::Store);
      auto addTo = [&](LineCounters &line) {
        line.warpInstructions += sum.warps;
        line.laneInstructions += sum.lanes;
        line.sectors += sum.sectors;
        line.requests += sum.requests;
        line.bytes += sum.bytes;
        if (isMasked) {
          line.predicatedLanes += sum.warps * Lanes;
          line.maskedLanes += sum.warps * Lanes - sum.lanes;
        }
        line.bankConflicts += sum.conflicts;
      };
      addTo(report.assemblyLines[inst.line]);
      for (const auto &key : keys)
        addTo(report.lines[key]);
    }
  }
  for (auto &key : covered)
    report.uncovered.erase(key);
}
