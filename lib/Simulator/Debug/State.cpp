//===-- State.cpp - What a debugger shows of a launch ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "../Mbarrier.h"
#include "../Waits.h"
#include "DebuggerImpl.h"

#include <cstring>

using namespace tile::sim;

Debugger::Debugger(std::vector<DebugMark> marks,
                   std::vector<std::pair<uint32_t, uint32_t>> groups,
                   Handler handler)
    : impl(std::make_unique<Impl>()) {
  impl->marks = std::move(marks);
  impl->groups = std::move(groups);
  impl->handler = std::move(handler);
}
Debugger::~Debugger() = default;

//===-- What to stop at ---------------------------------------------------===//

void Debugger::setBreakpoints(std::vector<Breakpoint> list) {
  impl->breakpoints = std::move(list);
}
void Debugger::stopAtPlaces(bool yes, int64_t cta, int64_t warp) {
  impl->places = yes;
  impl->placesCta = cta;
  impl->placesWarp = warp;
}
void Debugger::stopAtInstructions(bool yes, int64_t cta, int64_t warp) {
  impl->instructions = yes;
  impl->instructionsCta = cta;
  impl->instructionsWarp = warp;
}
void Debugger::stopAtFindings(bool yes) { impl->atFindings = yes; }
void Debugger::stopAt(uint64_t event) { impl->target = event; }
void Debugger::setWatches(std::vector<DebugWatch> list) {
  impl->watches = std::move(list);
  impl->watched.clear();
}
void Debugger::pause() { impl->pauses = true; }

//===-- Where it is -------------------------------------------------------===//

uint64_t Debugger::now() const { return impl->now; }
std::array<unsigned, 3> Debugger::cta() const {
  return impl->ctx ? impl->ctx->cta->id : std::array<unsigned, 3>{};
}
uint64_t Debugger::ctaNumber() const {
  return impl->ctx ? impl->ctx->cta->linear : 0;
}
uint32_t Debugger::rank() const { return impl->ctx ? impl->ctx->cta->rank : 0; }
uint32_t Debugger::warp() const {
  return impl->ctx && impl->ctx->warp ? impl->ctx->warp->index : 0;
}
unsigned Debugger::waveLanes() const {
  return impl->launch ? impl->launch->program->waveLanes : Lanes;
}
const std::vector<uint32_t> &Debugger::hit() const { return impl->hit; }
const std::vector<uint32_t> &Debugger::arrived() const { return impl->arrived; }
std::optional<size_t> Debugger::changed() const { return impl->changed; }
const std::vector<std::byte> &Debugger::before() const { return impl->before; }

static DebugFragment show(const Debugger::Impl &d, const Cta &cta,
                          const Warp &warp, const Fragment &f) {
  DebugFragment out;
  const Cluster &cluster = *cta.cluster;
  const Inst &at = waitingAt(f);
  out.lanes = f.mask;
  out.place = d.ctx->place(*f.frame->code, at);
  out.mark = d.siteOf(f).mark;
  out.depth = f.frame->depth;
  bool spins = f.wait == Wait::Ready && f.spinAt && f.spinCount > 0 &&
               f.spinStamp == cluster.progress;
  out.isWaiting = f.wait != Wait::Ready || spins;
  if (out.isWaiting)
    out.waitsFor = d.launch->program->describeWait(cta, warp, f).text;
  if (!out.isWaiting)
    out.place = d.ctx->place(
        *f.frame->code,
        f.frame->code
            ->insts[std::min<size_t>(f.pc, f.frame->code->insts.size() - 1)]);
  out.atMbarrier = spins && std::string_view(at.name) == "mbarrier";
  if (out.atMbarrier) {
    out.mbarrier = f.spinOffset;
    out.mbarrierRank = f.spinRank;
    out.phase = f.spinPhase;
  }
  return out;
}

std::vector<DebugWarp> Debugger::warps() const {
  std::vector<DebugWarp> out;
  if (!impl->ctx)
    return out;
  for (const auto &cta : impl->ctx->cluster->ctas)
    for (const Warp &warp : cta->warps) {
      DebugWarp &shown = out.emplace_back();
      shown.rank = cta->rank;
      shown.index = warp.index;
      shown.exited = warp.exited;
      for (const auto &[function, mark] : impl->state(*cta, warp.index).calls)
        shown.calls.push_back(mark);
      for (const Fragment &f : warp.frags)
        shown.fragments.push_back(show(*impl, *cta, warp, f));
    }
  return out;
}

std::vector<DebugMbarrier> Debugger::mbarriers() const {
  std::vector<DebugMbarrier> out;
  if (!impl->ctx)
    return out;
  for (const auto &cta : impl->ctx->cluster->ctas)
    for (const auto &[number, offset] : impl->mbarriers) {
      uint64_t bits;
      if (number != cta->linear || offset + 8 > cta->shared.size())
        continue;
      std::memcpy(&bits, cta->shared.data() + offset, 8);
      if (!MbarrierState::isValid(bits))
        continue;
      MbarrierState s = MbarrierState::unpack(bits);
      out.push_back(
          {cta->rank, offset, s.phase, s.pending, s.expected, s.transactions});
    }
  return out;
}

std::vector<DebugBarrier> Debugger::barriers() const {
  std::vector<DebugBarrier> out;
  if (!impl->ctx)
    return out;
  for (const auto &cta : impl->ctx->cluster->ctas)
    for (uint32_t i = 0; i < 16; ++i)
      if (const NamedBarrier &b = cta->barriers[i]; b.arrived)
        out.push_back({cta->rank, i, b.arrived, b.expected});
  return out;
}

std::vector<std::byte> Debugger::shared(uint32_t rank) const {
  if (!impl->ctx || rank >= impl->ctx->cluster->ctas.size())
    return {};
  return impl->ctx->cluster->ctas[rank]->shared;
}

std::vector<std::pair<std::string, std::pair<uint32_t, uint32_t>>>
Debugger::sharedNames() const {
  if (!impl->ctx || impl->ctx->cluster->ctas.empty())
    return {};
  auto names = impl->launch->program->sharedNames;
  uint32_t bytes = uint32_t(impl->ctx->cluster->ctas[0]->shared.size());
  for (auto &[name, range] : names)
    range.second = std::min(range.second, bytes - std::min(bytes, range.first));
  return names;
}

static const Warp *findWarp(const Debugger::Impl &d, uint32_t rank,
                            uint32_t warp) {
  if (!d.ctx || rank >= d.ctx->cluster->ctas.size())
    return nullptr;
  const Cta &cta = *d.ctx->cluster->ctas[rank];
  return warp < cta.warps.size() ? &cta.warps[warp] : nullptr;
}

std::vector<uint64_t> Debugger::readRegister(uint32_t rank, uint32_t number,
                                             const std::string &name) const {
  const Warp *warp = findWarp(*impl, rank, number);
  if (!warp || warp->done())
    return {};
  const Frame &frame = *warp->frags.front().frame;
  RegisterPlace place;
  if (!impl->launch->program->findRegister(*frame.code, name, place))
    return {};
  return impl->read(frame, place);
}

std::vector<std::string> Debugger::registerNames() const {
  if (!impl->ctx || !impl->ctx->warp || impl->ctx->warp->done())
    return {};
  return impl->launch->program->registerNames(
      *impl->ctx->warp->frags.front().frame->code);
}

std::vector<DebugCapture> Debugger::captures(uint32_t rank,
                                             uint32_t warp) const {
  std::vector<DebugCapture> out;
  if (!findWarp(*impl, rank, warp))
    return out;
  const Cta &cta = *impl->ctx->cluster->ctas[rank];
  for (const auto &[head, capture] : impl->state(cta, warp).captures)
    out.push_back(capture);
  return out;
}

std::vector<uint64_t> Debugger::entered(uint32_t rank, uint32_t warp,
                                        uint32_t scope) const {
  if (!findWarp(*impl, rank, warp))
    return {};
  const auto &known =
      impl->state(*impl->ctx->cluster->ctas[rank], warp).entered;
  auto it = known.find(scope);
  return it == known.end() ? std::vector<uint64_t>{} : it->second;
}

std::vector<Finding> Debugger::findings() const {
  std::vector<Finding> out;
  if (impl->ctx)
    for (const auto &[cta, finding] : impl->ctx->worker->findings)
      out.push_back(finding);
  return out;
}

std::vector<Place> Debugger::places() const {
  std::vector<Place> out;
  if (!impl->ctx)
    return out;
  for (const auto &code : impl->launch->program->codes)
    for (size_t i = 0; i < code->insts.size(); ++i)
      if (impl->sites[code->index][i].begins)
        out.push_back(impl->ctx->place(*code, code->insts[i]));
  return out;
}
