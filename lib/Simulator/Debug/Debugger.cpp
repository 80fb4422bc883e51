//===-- Debugger.cpp - Where a launch stops -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../ClusterAddress.h"
#include "../Mbarrier.h"
#include "../Memory.h"
#include "../Waits.h"
#include "DebuggerImpl.h"
#include "Hooks.h"

#include <algorithm>
#include <cstring>

using namespace tile::sim;

/// Lanes that spin must let others of their warp go on.
static constexpr uint32_t longTurn = 20000;
/// Turns that a warp waits for others of its group.
static constexpr uint32_t mostHeld = 2000;

static Debugger::Impl &implOf(const Ctx &c) {
  return c.launch->config->debugger->getImpl();
}

//===-- What is known of the program --------------------------------------===//

static std::vector<uint32_t> jumpTargets(const Code &code) {
  std::vector<uint32_t> targets;
  for (const Inst &inst : code.insts)
    if (inst.hasTarget)
      targets.push_back(inst.target);
  std::sort(targets.begin(), targets.end());
  return targets;
}

/// Statements begin at their marks. Where there are none, each source line
/// does, and where the source is not known, each instruction.
static std::vector<Debugger::Impl::Site>
findSites(const Code &code, const std::map<uint32_t, uint32_t> &markOfLine,
          const std::vector<DebugMark> &marks, bool hasMarks) {
  std::vector<Debugger::Impl::Site> sites(code.insts.size());
  std::vector<uint32_t> targets = jumpTargets(code);
  auto key = [&](const Inst &inst) {
    if (inst.source < 0 || size_t(inst.source) >= code.sources.size())
      return std::pair(~0u, inst.line);
    const ast::SourceLoc &loc = code.sources[size_t(inst.source)];
    return std::pair(loc.file, loc.line);
  };
  std::map<std::pair<unsigned, unsigned>, uint32_t> keys;
  for (size_t i = 0; i < code.insts.size(); ++i) {
    const Inst &inst = code.insts[i];
    Debugger::Impl::Site &site = sites[i];
    site.key = keys.emplace(key(inst), uint32_t(keys.size())).first->second;
    auto it = markOfLine.find(inst.line);
    if (!inst.micro && it != markOfLine.end())
      site.mark = int32_t(it->second);
    if (hasMarks)
      site.begins = site.mark >= 0 &&
                    marks[size_t(site.mark)].kind == DebugMark::Statement;
    else
      site.begins =
          !inst.micro &&
          (i == 0 || sites[i - 1].key != site.key ||
           std::binary_search(targets.begin(), targets.end(), uint32_t(i)));
  }
  return sites;
}

void Debugger::Impl::begin(const Launch &of) {
  launch = &of;
  now = 0;
  known = 0;
  changed = {};
  warps.clear();
  mbarriers.clear();
  sites.clear();
  registers.clear();
  const Program &program = *of.program;
  std::map<uint32_t, uint32_t> markOfLine;
  for (uint32_t i = 0; i < marks.size(); ++i)
    markOfLine[marks[i].line] = i;
  hasMarks = !marks.empty();
  for (const auto &code : program.codes) {
    sites.push_back(findSites(*code, markOfLine, marks, hasMarks));
    std::vector<std::vector<Target>> &found = registers.emplace_back();
    for (const DebugMark &mark : marks) {
      std::vector<Target> &targets = found.emplace_back();
      for (const std::string &name : mark.registers) {
        Target target;
        target.isKnown = program.findRegister(*code, name, target.place);
        targets.push_back(target);
      }
    }
  }
  watched.clear();
}

const Debugger::Impl::Site &Debugger::Impl::siteOf(const Fragment &f) const {
  const std::vector<Site> &of = sites[f.frame->code->index];
  return of[std::min<size_t>(f.pc, of.size() - 1)];
}

//===-- Values of variables -----------------------------------------------===//

std::vector<uint64_t> Debugger::Impl::read(const Frame &frame,
                                           const RegisterPlace &p) const {
  const auto *base = reinterpret_cast<const std::byte *>(frame.regs.data());
  unsigned lanes = launch->program->waveLanes;
  std::vector<uint64_t> out(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    uint64_t bits = 0;
    if (p.isPredicate) {
      uint32_t word;
      std::memcpy(&word, base + p.slot, 4);
      out[lane] = word >> lane & 1;
      continue;
    }
    std::memcpy(&bits, base + p.slot + size_t(lane) * p.stride,
                std::min(p.bytes, 8u));
    if (p.high != NoSlot) {
      uint32_t high;
      std::memcpy(&high, base + p.high + size_t(lane) * p.stride, 4);
      bits = (bits & 0xffffffff) | uint64_t(high) << 32;
    }
    out[lane] = bits;
  }
  return out;
}

/// A function that is called is on top. One that goes on has no others above
/// it: no function calls itself.
void Debugger::Impl::noteCall(WarpState &warp, uint32_t number) {
  uint32_t function = marks[number].function;
  auto known =
      std::find_if(warp.calls.begin(), warp.calls.end(),
                   [&](const auto &call) { return call.first == function; });
  if (known == warp.calls.end()) {
    warp.calls.push_back({function, number});
    return;
  }
  known->second = number;
  warp.calls.erase(known + 1, warp.calls.end());
}

void Debugger::Impl::capture(Ctx &c, const Inst &inst, uint32_t number) {
  const DebugMark &mark = marks[number];
  if (mark.kind == DebugMark::Statement) {
    WarpState &warp = state(*c.cta, c.warp->index);
    noteCall(warp, number);
    ++warp.statements;
    return;
  }
  uint32_t fragment = c.active;
  if (inst.guard != NoSlot) {
    uint32_t bits = c.pred(inst.guard);
    fragment &= inst.guardNegated ? ~bits : bits;
  }
  uint64_t active = c.launch->program->activeLanes(c, fragment);
  unsigned lanes = c.launch->program->waveLanes;
  WarpState &warp = state(*c.cta, c.warp->index);
  if (mark.kind == DebugMark::Enter) {
    noteCall(warp, number);
    std::vector<uint64_t> &entered = warp.entered[mark.scope];
    entered.resize(lanes);
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (active >> lane & 1)
        entered[lane] = now;
    return;
  }
  std::vector<uint64_t> &open = warp.open[mark.head];
  open.resize(size_t(mark.count) * lanes);
  const std::vector<Target> &targets = registers[c.code->index][number];
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i].isKnown)
      return;
    std::vector<uint64_t> values = read(*c.frame, targets[i].place);
    for (unsigned lane = 0; lane < lanes; ++lane)
      if (active >> lane & 1)
        open[(mark.first + i) * lanes + lane] = values[lane];
  }
  // It is assigned when all of it is there.
  if (mark.first + targets.size() < mark.count)
    return;
  DebugCapture &done = warp.captures[mark.head];
  done.head = mark.head;
  done.stamps.resize(lanes);
  done.counts.resize(lanes);
  done.values.resize(open.size());
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (!(active >> lane & 1))
      continue;
    done.stamps[lane] = now;
    ++done.counts[lane];
    for (uint32_t r = 0; r < mark.count; ++r)
      done.values[r * lanes + lane] = open[r * lanes + lane];
  }
}

/// An mbarrier is there from its initialization on.
void Debugger::Impl::noteMbarrier(Ctx &c, const Inst &inst) {
  if (std::string_view(inst.name) != "mbarrier" || inst.op[1] == NoSlot ||
      inst.op[2] == NoSlot)
    return;
  uint64_t address[Lanes];
  gatherAddresses(c, inst, inst.op[1], inst.imm, address);
  for (uint32_t m = c.active; m; m &= m - 1) {
    uint64_t at = address[firstLane(m)] & (SharedWindow - 1);
    uint32_t rank = clusterPrefix(at) ? clusterRank(at) : c.cta->rank;
    if (rank < c.cluster->ctas.size())
      mbarriers.insert(
          {c.cluster->ctas[rank]->linear, uint32_t(at) & clusterOffsetMask});
  }
}

//===-- Stops -------------------------------------------------------------===//

bool Debugger::Impl::stop(Ctx &c, DebugReason reason) {
  // What is shown is the state of the fragments.
  if (c.warp && !c.warp->done() && c.current < c.warp->frags.size() &&
      reason == DebugReason::Step)
    c.saveFragment();
  ctx = &c;
  bool goesOn = handler(reason);
  ctx = nullptr;
  changed = {};
  if (!goesOn)
    c.launch->group->stop = true;
  return goesOn;
}

std::span<const std::byte>
Debugger::Impl::bytesOf(const DebugWatch &watch) const {
  if (watch.cta < 0)
    return {reinterpret_cast<const std::byte *>(watch.address), watch.size};
  for (const auto &cta : ctx->cluster->ctas)
    if (int64_t(cta->linear) == watch.cta &&
        watch.address + watch.size <= cta->shared.size())
      return {cta->shared.data() + watch.address, watch.size};
  return {};
}

/// Stops if memory that is watched is not what it was.
bool Debugger::Impl::checkWatches(Ctx &c) {
  ctx = &c;
  bool isNew = watched.size() != watches.size();
  watched.resize(watches.size());
  std::optional<size_t> found;
  for (size_t i = 0; i < watches.size(); ++i) {
    std::span<const std::byte> bytes = bytesOf(watches[i]);
    if (std::equal(bytes.begin(), bytes.end(), watched[i].begin(),
                   watched[i].end()))
      continue;
    // Shared memory comes and goes with its CTA.
    if (!isNew && !found && !bytes.empty() && !watched[i].empty()) {
      found = i;
      before = watched[i];
    }
    watched[i].assign(bytes.begin(), bytes.end());
  }
  ctx = nullptr;
  if (!found)
    return true;
  changed = found;
  return stop(c, DebugReason::Watch);
}

bool Debugger::Impl::matches(const Breakpoint &b, const Ctx &c,
                             const Fragment &f) const {
  const Site &site = siteOf(f);
  if (!b.marks.empty())
    return site.mark >= 0 && std::find(b.marks.begin(), b.marks.end(),
                                       uint32_t(site.mark)) != b.marks.end();
  const Code &code = *f.frame->code;
  const Inst &inst = code.insts[std::min<size_t>(f.pc, code.insts.size() - 1)];
  if (b.isAssembly)
    return inst.line == b.line;
  if (inst.source < 0 || size_t(inst.source) >= code.sources.size())
    return false;
  const ast::SourceLoc &loc = code.sources[size_t(inst.source)];
  if (loc.line != b.line)
    return false;
  auto file = c.launch->files->find(loc.file);
  return file != c.launch->files->end() && file->second == b.file;
}

ArgumentBuffer &tile::sim::argumentsOf(const LaunchConfig &config,
                                       ArgumentBuffer &own) {
  return config.debugger ? config.debugger->getImpl().arguments : own;
}

void tile::sim::beginDebug(const Launch &launch) {
  if (Debugger *debugger = launch.config->debugger)
    debugger->getImpl().begin(launch);
}

bool tile::sim::debugBefore(Ctx &c, const Inst &inst, uint64_t inTurn) {
  Debugger::Impl &d = implOf(c);
  if (c.launch->group->stop)
    return false;
  const Debugger::Impl::Site &site = d.sites[c.code->index][c.pc];
  Debugger::Impl::WarpState &warp = d.state(*c.cta, c.warp->index);
  // The turn ends before the next statement. Others may have let the warp go on
  // to it, as those do that come to a barrier last.
  if (site.begins && (inTurn || !warp.isShown)) {
    if (c.warp->frags.size() > 1 && warp.unfair > longTurn) {
      ++c.warp->frags[c.current].stamp;
      warp.unfair = 0;
    }
    return false;
  }
  if (!d.watches.empty() && d.watched.size() != d.watches.size() &&
      !d.checkWatches(c))
    return false;
  bool steps =
      d.instructions && !inst.micro &&
      (d.instructionsCta < 0 || uint64_t(d.instructionsCta) == c.cta->linear) &&
      (d.instructionsWarp < 0 || uint32_t(d.instructionsWarp) == c.warp->index);
  ++d.now;
  if (d.now == d.target) {
    c.saveFragment();
    if (!d.stop(c, DebugReason::Position))
      return false;
  } else {
    // Whoever only wanted to be heard lets the launch go on.
    if (d.pauses.exchange(false)) {
      c.saveFragment();
      if (!d.stop(c, DebugReason::Pause))
        return false;
    }
    if (steps && !d.stop(c, DebugReason::Step))
      return false;
  }
  warp.isShown = false;
  warp.held = 0;
  ++warp.unfair;
  if (site.mark >= 0)
    d.capture(c, inst, uint32_t(site.mark));
  return true;
}

void tile::sim::debugAfter(Ctx &c, const Inst &inst) {
  Debugger::Impl &d = implOf(c);
  d.noteMbarrier(c, inst);
  // What an instruction has done is an event of its own.
  ++d.now;
  bool isFound = c.worker->findings.size() > d.known;
  d.known = c.worker->findings.size();
  bool isTarget = d.now == d.target;
  if (!d.watches.empty() && !d.checkWatches(c))
    return;
  if (isTarget)
    d.stop(c, DebugReason::Position);
  else if (isFound && d.atFindings)
    d.stop(c, DebugReason::Finding);
}

/// How many statements a warp has begun and ended.
static uint64_t progressOf(Debugger::Impl &d, const Warp &warp) {
  bool isBetween =
      std::any_of(warp.frags.begin(), warp.frags.end(),
                  [&](const Fragment &f) { return d.siteOf(f).begins; });
  return 2 * d.state(*warp.cta, warp.index).statements + isBetween;
}

/// Whether another warp of the group can go on and has not come so far.
static bool isAhead(Debugger::Impl &d, const Warp &warp) {
  const Cta &cta = *warp.cta;
  Debugger::Impl::WarpState &own = d.state(cta, warp.index);
  if (own.held >= mostHeld)
    return false;
  for (const auto &[first, count] : d.groups) {
    if (warp.index < first || warp.index >= first + count)
      continue;
    for (uint32_t i = first; i < first + count && i < cta.warps.size(); ++i)
      if (const Warp &other = cta.warps[i];
          !other.done() && !isStuck(*cta.cluster, other) &&
          progressOf(d, other) < progressOf(d, warp))
        return true;
  }
  return false;
}

bool tile::sim::holdDebugged(const Launch &launch, const Warp &warp) {
  Debugger::Impl::WarpState &state =
      launch.config->debugger->getImpl().state(*warp.cta, warp.index);
  state.held += state.isHeld;
  return state.isHeld;
}

bool tile::sim::endDebugRound(Ctx &c, Cta &cta, bool &moved) {
  Debugger::Impl &d = implOf(c);
  if (c.launch->group->stop)
    return false;
  ++d.now;
  c.cta = &cta;
  d.hit.clear();
  d.arrived.clear();
  Warp *first = nullptr;
  for (Warp &warp : cta.warps) {
    Debugger::Impl::WarpState &state = d.state(cta, warp.index);
    // A warp that is ahead has come when the others have. It waits for the
    // whole of the next round.
    state.isHeld = isAhead(d, warp);
    if (state.isShown || state.isHeld)
      continue;
    bool isThere = false;
    for (const Fragment &f : warp.frags) {
      if (f.wait != Wait::Ready || !d.siteOf(f).begins)
        continue;
      isThere = true;
      for (const Debugger::Breakpoint &b : d.breakpoints)
        if ((b.cta < 0 || uint64_t(b.cta) == cta.linear) &&
            d.matches(b, c, f)) {
          if (d.hit.empty())
            first = &warp;
          if (std::find(d.hit.begin(), d.hit.end(), b.number) == d.hit.end())
            d.hit.push_back(b.number);
        }
    }
    if (isThere) {
      d.arrived.push_back(warp.index);
      state.isShown = true;
    }
  }
  bool asked =
      d.places && (d.placesCta < 0 || uint64_t(d.placesCta) == cta.linear);
  if (asked && d.placesWarp >= 0)
    asked = std::find(d.arrived.begin(), d.arrived.end(),
                      uint32_t(d.placesWarp)) != d.arrived.end();
  asked = asked && !d.arrived.empty();
  moved |= !d.arrived.empty();
  if (!d.arrived.empty())
    c.warp = d.placesWarp >= 0 && asked ? &cta.warps[size_t(d.placesWarp)]
             : first                    ? first
                                        : &cta.warps[d.arrived.front()];
  if (d.now == d.target)
    return d.stop(c, DebugReason::Position);
  if (asked || !d.hit.empty())
    return d.stop(c, DebugReason::Place);
  return true;
}

void tile::sim::showDebugFinding(Ctx &c) {
  Debugger::Impl &d = implOf(c);
  ++d.now;
  bool isFound = c.worker->findings.size() > d.known;
  d.known = c.worker->findings.size();
  if (d.now == d.target)
    d.stop(c, DebugReason::Position);
  else if (isFound && d.atFindings)
    d.stop(c, DebugReason::Finding);
}
