//===-- Launch.cpp - Runs a grid on the host's threads --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Launch.h"
#include "Checkers/DisjointChecker.h"
#include "Checkers/OrderChecker.h"
#include "Debug/Hooks.h"
#include "Machine.h"
#include "ModuleImpl.h"
#include "Schedule.h"
#include "Timeline.h"
#include "Turns.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <system_error>
#include <thread>

using namespace tile::sim;

static bool checkConfig(const Program &program, const LaunchConfig &config,
                        size_t argBytes, std::string &error) {
  auto fail = [&](std::string text) {
    error = std::move(text);
    return false;
  };
  auto shape = [](const std::array<unsigned, 3> &a) {
    return "(" + std::to_string(a[0]) + ", " + std::to_string(a[1]) + ", " +
           std::to_string(a[2]) + ")";
  };
  const Device &device = program.device;
  uint64_t threads = 1, cluster = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (config.grid[i] > device.mostCtas[i])
      return fail("the grid " + shape(config.grid) + " must have at most " +
                  std::to_string(device.mostCtas[i]) + " CTAs in dimension " +
                  std::to_string(i));
    if (config.block[i] == 0)
      return fail("the block " + shape(config.block) + " is empty");
    if (config.cluster[i] == 0 || config.grid[i] % config.cluster[i])
      return fail("the grid " + shape(config.grid) +
                  " is not a multiple of the cluster " + shape(config.cluster));
    threads *= config.block[i];
    cluster *= config.cluster[i];
    if (threads > device.mostThreads)
      return fail("the block " + shape(config.block) + " has more than " +
                  std::to_string(device.mostThreads) + " threads");
    if (cluster > 1 && device.mostClusterCtas == 1)
      return fail("the target has no clusters of CTAs, such as " +
                  shape(config.cluster));
    if (cluster > device.mostClusterCtas)
      return fail("the cluster " + shape(config.cluster) + " has more than " +
                  std::to_string(device.mostClusterCtas) + " CTAs");
  }
  if (program.requiredThreads[0] && program.requiredThreads != config.block)
    return fail("the kernel requires blocks of " +
                shape(program.requiredThreads) + " threads (.reqntid), not " +
                shape(config.block));
  if (program.maxThreads[0] && threads > uint64_t(program.maxThreads[0]) *
                                             program.maxThreads[1] *
                                             program.maxThreads[2])
    return fail("the block " + shape(config.block) +
                " has more threads than the kernel allows (.maxntid " +
                shape(program.maxThreads) + ")");
  if (program.requiredCluster[0] && program.requiredCluster != config.cluster)
    return fail("the kernel requires clusters of " +
                shape(program.requiredCluster) +
                " CTAs (.reqnctapercluster), not " + shape(config.cluster));
  if (uint64_t(program.sharedBytes()) + config.dynamicShared >
      device.mostShared)
    return fail(
        "the kernel needs " +
        std::to_string(uint64_t(program.sharedBytes()) + config.dynamicShared) +
        " bytes of shared memory, there are " +
        std::to_string(device.mostShared));
  uint64_t warps = (threads + program.waveLanes - 1) / program.waveLanes;
  if (program.maxRegisters * warps * Lanes > device.registers)
    return fail("the kernel takes " + std::to_string(program.maxRegisters) +
                " registers a thread (.maxnreg), too many for blocks of " +
                std::to_string(threads) + " threads: there are " +
                std::to_string(device.registers));
  if (argBytes < program.codes[0]->paramBytes)
    return fail(
        "the kernel takes " + std::to_string(program.codes[0]->paramBytes) +
        " bytes of parameters, " + std::to_string(argBytes) + " were given");
  return true;
}

std::array<unsigned, 3> tile::sim::ctaId(const Launch &launch, uint64_t cluster,
                                         uint32_t rank) {
  const LaunchConfig &config = *launch.config;
  std::array<unsigned, 3> id;
  for (unsigned i = 0; i < 3; ++i) {
    unsigned count = config.grid[i] / config.cluster[i];
    id[i] = unsigned(cluster % count) * config.cluster[i] +
            rank % config.cluster[i];
    cluster /= count;
    rank /= config.cluster[i];
  }
  return id;
}

Cluster::Cluster() = default;
Cluster::~Cluster() = default;
Launch::Launch() = default;
Launch::~Launch() = default;

std::unique_ptr<SharedShadow> Launch::takeShadow() {
  std::lock_guard lock(shadowLock);
  if (freeShadows.empty())
    return std::make_unique<SharedShadow>();
  auto shadow = std::move(freeShadows.back());
  freeShadows.pop_back();
  return shadow;
}
void Launch::giveShadow(std::unique_ptr<SharedShadow> shadow) {
  std::lock_guard lock(shadowLock);
  freeShadows.push_back(std::move(shadow));
}

static std::unique_ptr<Cluster> makeCluster(Launch &launch, uint64_t number) {
  const LaunchConfig &config = *launch.config;
  auto cluster = std::make_unique<Cluster>();
  for (uint32_t rank = 0; rank < launch.clusterSize; ++rank) {
    auto cta = std::make_unique<Cta>();
    cta->cluster = cluster.get();
    cta->rank = rank;
    cta->id = ctaId(launch, number, rank);
    cta->linear =
        cta->id[0] + uint64_t(config.grid[0]) *
                         (cta->id[1] + uint64_t(config.grid[1]) * cta->id[2]);
    cluster->ctas.push_back(std::move(cta));
  }
  for (unsigned i = 0; i < 3; ++i)
    cluster->id[i] = cluster->ctas[0]->id[i] / config.cluster[i];
  for (uint32_t w = 0; w < launch.warpsPerCta; ++w)
    cluster->liveThreads +=
        uint32_t(std::popcount(initialLanes(launch, w))) * launch.clusterSize;
  cluster->barrierToken.assign(
      cluster->ctas.size(), std::vector<uint32_t>(launch.warpsPerCta * Lanes));
  if (config.scheduleSeed)
    cluster->schedule = std::make_unique<Schedule>(
        config.scheduleSeed * 0x9e3779b97f4a7c15 + number);
  if (launch.order)
    cluster->checker = std::make_unique<OrderChecker>(launch, *cluster, number);
  if (number < launch.timelines.size())
    cluster->timeline = launch.timelines[number].get();
  return cluster;
}

/// Asks, some twenty times a second, whether the launch shall end.
static void poll(Launch &launch, std::chrono::steady_clock::time_point &last) {
  auto now = std::chrono::steady_clock::now();
  if (!launch.config->interrupted || now - last < std::chrono::milliseconds(50))
    return;
  last = now;
  if (launch.config->interrupted())
    launch.stop = true;
}

/// The budget was used up before this cluster began.
static void reportUnstarted(Launch &launch, Worker &worker, uint64_t number) {
  auto cluster = makeCluster(launch, number);
  const Code &entry = *launch.program->codes[0];
  Finding f;
  f.kind = "instruction-budget";
  f.message = budgetMessage(launch) + ": " + std::to_string(launch.finished) +
              " of " + std::to_string(launch.clusterCount) +
              " clusters of CTAs ended";
  f.place.line = entry.insts.front().line;
  f.place.instruction = entry.insts.front().name;
  f.thread.cta = cluster->ctas[0]->id;
  worker.findings.push_back({cluster->ctas[0]->linear, std::move(f)});
  launch.stop = true;
}

/// The number of the worker's next cluster, which may be beyond the last.
uint64_t tile::sim::takeCluster(Launch &launch, Worker &worker) {
  if (!launch.turns)
    return launch.nextCluster++;
  uint64_t number = worker.nextCluster;
  worker.nextCluster += launch.turns->count();
  return number;
}

/// A worker takes clusters in order. One that does not end soon goes to the
/// back of the line, so that CTAs may wait for each other.
static void work(Launch &launch, Worker &worker, bool polls) {
  // CTAs that may wait for each other take short turns; one that changes
  // nothing for a slice of its turn probably waits, and ends it.
  const bool mayWait = launch.program->usesGlobalAtomics;
  const uint64_t longTurn = mayWait ? 1 << 14 : 1 << 18,
                 slice = mayWait ? 1 << 10 : longTurn, shortTurn = 256;
  // As many as a GPU has room for.
  const size_t mostResident = 1056 / (launch.turns ? launch.turns->count() : 1);
  Ctx c;
  c.launch = &launch;
  c.worker = &worker;
  c.checks = launch.config->checks;
  c.counting = launch.config->counters;
  std::deque<std::unique_ptr<Cluster>> resident;
  std::unique_ptr<Schedule> schedule;
  if (launch.config->scheduleSeed)
    schedule = std::make_unique<Schedule>(launch.config->scheduleSeed);
  bool more = true;
  size_t idleTurns = 0; // since one of the clusters did something
  size_t turnsSinceStart = 0;
  auto polled = std::chrono::steady_clock::now();
  while (!launch.stop) {
    if (polls)
      poll(launch, polled);
    bool start = more && resident.size() < mostResident;
    // Few to choose from, but those may all wait for one that did not start.
    if (schedule)
      start &= resident.size() < 16 || turnsSinceStart >= 16;
    if (start) {
      uint64_t number = takeCluster(launch, worker);
      if (number >= launch.clusterCount) {
        more = start = false;
      } else if (isOverBudget(launch, 0)) {
        reportUnstarted(launch, worker, number);
        return;
      } else {
        auto cluster = makeCluster(launch, number);
        for (auto &cta : cluster->ctas)
          startCta(c, *cta);
        resident.push_front(std::move(cluster));
        turnsSinceStart = 0;
      }
    }
    if (resident.empty()) {
      if (!more)
        return;
      continue;
    }
    // A schedule has several clusters to choose from.
    if (schedule && start && schedule->below(4))
      continue;
    if (schedule)
      std::swap(resident.front(),
                resident[schedule->below(uint32_t(resident.size()))]);
    std::unique_ptr<Cluster> cluster = std::move(resident.front());
    resident.pop_front();
    ++turnsSinceStart;
    bool finished = false, idle = false;
    uint64_t turn = schedule        ? schedule->warpTurn() * 16
                    : cluster->turn ? cluster->turn
                                    : longTurn;
    for (uint64_t left = turn, part; left && !finished && !idle; left -= part) {
      uint64_t events = cluster->stores + cluster->progress;
      part = schedule ? left : std::min(left, slice);
      if (!runCluster(c, *cluster, part, finished))
        return;
      idle = mayWait && events == cluster->stores + cluster->progress;
    }
    cluster->turn = idle ? shortTurn : longTurn;
    if (!finished)
      resident.push_back(std::move(cluster));
    idleTurns = idle && !finished ? idleTurns + 1 : 0;
    // Who waits for other workers looks less and less often.
    if (launch.turns && idleTurns && idleTurns >= resident.size())
      launch.turns->pass(worker.index,
                         shortTurn * std::min<size_t>(idleTurns, 64));
  }
}

static void collect(Launch &launch, std::vector<Worker> &workers,
                    const Program &program, Report &report) {
  std::multimap<uint64_t, Finding> findings; // in the order of the CTAs
  for (Worker &w : workers) {
    report.counters.add(w.counters);
    for (auto &f : w.findings)
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
  report.ok = report.findings.empty() && launch.finished == launch.clusterCount;
  for (auto &[cta, text] : launch.output)
    report.output += text;
  std::set<uint32_t> undefined;
  for (Worker &w : workers)
    for (uint32_t i = 0; i < w.undefinedLoads.size(); ++i)
      if (w.undefinedLoads[i])
        undefined.insert(i);
  report.undefinedLoads.assign(undefined.begin(), undefined.end());
  std::set<std::pair<std::string, uint32_t>> covered;
  for (size_t k = 0; k < program.codes.size(); ++k) {
    const Code &code = *program.codes[k];
    for (size_t i = 0; i < code.insts.size(); ++i) {
      const Inst &inst = code.insts[i];
      InstStats sum;
      for (Worker &w : workers)
        sum.add(w.stats[k][i]);
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

/// False where the host has no more threads to give: those there are do the
/// work.
template <class F>
static bool startThread(std::vector<std::thread> &pool, F run) {
  try {
    pool.emplace_back(run);
    return true;
  } catch (const std::system_error &) {
    return false;
  }
}

/// Runs all clusters; returns how many workers did. Workers that have turns get
/// threads of their own, so that the caller's goes on asking whether the launch
/// shall end.
static unsigned runWorkers(Launch &launch, std::vector<Worker> &workers) {
  std::vector<std::thread> pool;
  std::mutex ended;
  std::condition_variable wake;
  size_t done = 0;
  // Workers with turns begin when all are there, or not at all.
  enum : int { Undecided, Begin, Never };
  std::atomic<int> decision = launch.turns ? Undecided : Begin;
  auto run = [&](unsigned i) {
    decision.wait(Undecided);
    if (decision == Begin) {
      if (launch.turns)
        launch.turns->begin(i);
      work(launch, workers[i], false);
      if (launch.turns)
        launch.turns->end(i);
    }
    std::lock_guard guard(ended);
    ++done;
    wake.notify_one();
  };
  unsigned next = launch.turns ? 0 : 1;
  while (next < workers.size() &&
         startThread(pool, [&run, next] { run(next); }))
    ++next;
  bool all = next == workers.size();
  decision = launch.turns && !all ? Never : Begin;
  decision.notify_all();
  auto join = [&] {
    for (std::thread &t : pool)
      t.join();
    pool.clear();
  };
  if (launch.turns && !all) {
    join();
    launch.turns = nullptr;
    next = 1;
  }
  if (!launch.turns)
    work(launch, workers[0], true);
  {
    auto polled = std::chrono::steady_clock::now();
    std::unique_lock guard(ended);
    while (!wake.wait_for(guard, std::chrono::milliseconds(50),
                          [&] { return done >= pool.size(); }))
      poll(launch, polled);
  }
  join();
  return next;
}

bool Module::launch(std::string_view name, const LaunchConfig &config,
                    std::span<const std::byte> args, Report &report,
                    std::string &error) const {
  const Entry *entry = impl->find(name);
  if (!entry) {
    error = "the module has no kernel '" + std::string(name) + "'";
    if (!impl->entries.empty()) {
      error += "; it has";
      for (auto &[known, e] : impl->entries)
        error += " '" + known + "'";
    }
    return false;
  }
  const Program *decoded = impl->program(*entry);
  if (!decoded) {
    error = entry->error.format(impl->assembly ? "<amdgcn>" : "<ptx>");
    return false;
  }
  const Program &program = *decoded;
  if (!checkConfig(program, config, args.size(), error))
    return false;
  std::unique_lock<std::mutex> lock;
  Launch launch;
  launch.allocations = config.allocations;
  if (!impl->storage.empty()) {
    lock = std::unique_lock(impl->variables);
    Diagnostic ignored;
    impl->resetVariables(ignored);
    for (const Impl::Storage &s : impl->storage)
      launch.allocations.push_back({s.address, s.variable->sizeInBytes(),
                                    s.variable->name,
                                    s.variable->space != Space::Const});
  }
  if (program.usesWorkspace)
    launch.allocations.push_back(
        {uint64_t(reinterpret_cast<uintptr_t>(launch.workspace)),
         sizeof launch.workspace, "the grid's workspace", true});
  ArgumentBuffer own;
  ArgumentBuffer &arguments = argumentsOf(config, own);
  arguments.bytes = args;
  arguments.allocations.clear();
  if (!program.bind(config, arguments, error))
    return false;
  launch.allocations.insert(launch.allocations.end(),
                            arguments.allocations.begin(),
                            arguments.allocations.end());
  std::sort(
      launch.allocations.begin(), launch.allocations.end(),
      [](const Allocation &a, const Allocation &b) { return a.base < b.base; });
  launch.program = &program;
  launch.config = &config;
  launch.args = arguments.bytes;
  launch.files = &impl->ast.files;
  launch.threadsPerCta = config.block[0] * config.block[1] * config.block[2];
  launch.warpsPerCta =
      (launch.threadsPerCta + program.waveLanes - 1) / program.waveLanes;
  launch.sharedBytes = program.staticShared + config.dynamicShared;
  launch.clusterSize =
      config.cluster[0] * config.cluster[1] * config.cluster[2];
  launch.clusterCount = uint64_t(config.grid[0]) * config.grid[1] *
                        config.grid[2] / launch.clusterSize;
  const unsigned hostThreads =
      config.scheduleSeed || config.debugger ? 1
      : config.threads                       ? config.threads
                       : std::max(1u, std::thread::hardware_concurrency());
  bool ordered = program.usesGlobalAtomics && config.deterministic &&
                 !config.scheduleSeed && !config.debugger;
  // An empty grid has one, too, that finds nothing to do.
  const uint64_t count = std::max<uint64_t>(1, launch.clusterCount);
  const unsigned workerCount =
      ordered ? Turns::workersFor(count)
              : unsigned(std::min<uint64_t>(hostThreads, count));
  launch.parallel = workerCount > 1;
  if (ordered && launch.parallel)
    launch.turns =
        std::make_unique<Turns>(workerCount, hostThreads, launch.stop);
  if (config.checks &
      (CheckRaces | CheckUninitialized | CheckAsync | CheckGlobal)) {
    launch.order = std::make_unique<GlobalOrder>(launch);
    uint32_t sites = 0;
    for (auto &code : program.codes) {
      launch.firstSite.push_back(sites);
      sites += uint32_t(code->insts.size());
    }
  }
  if (!config.forbidden.empty())
    launch.disjoint = std::make_unique<DisjointChecker>(program, config);
  for (uint64_t i = 0; i < config.timelines && i < launch.clusterCount; ++i)
    launch.timelines.push_back(std::make_unique<Timeline>(launch));
  std::vector<Worker> workers(workerCount);
  for (unsigned i = 0; i < workerCount; ++i) {
    Worker &w = workers[i];
    w.launch = &launch;
    w.index = i;
    w.nextCluster = i;
    for (auto &code : program.codes)
      w.stats.emplace_back(code->insts.size());
  }
  auto begin = std::chrono::steady_clock::now();
  beginDebug(launch);
  unsigned used = runWorkers(launch, workers);
  report = Report{};
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  report.entry = std::string(name);
  report.grid = config.grid;
  report.block = config.block;
  report.cluster = config.cluster;
  report.sharedBytes = program.sharedBytes() + config.dynamicShared;
  report.gpu = program.device.gpu;
  for (const Allocation &allocation : config.allocations)
    report.reach += allocation.size;
  program.describe(report);
  report.threads = std::min(used, hostThreads);
  collect(launch, workers, program, report);
  return true;
}
