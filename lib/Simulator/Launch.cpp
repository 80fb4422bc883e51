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

Group::Group() = default;
Group::~Group() = default;

Launch &Group::launchOf(uint64_t cluster) const {
  for (const auto &launch : launches)
    if (launch->has(cluster))
      return *launch;
  return *launches.back();
}

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
  const uint64_t numberInGroup = launch.firstCluster + number;
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
        config.scheduleSeed * 0x9e3779b97f4a7c15 + numberInGroup);
  if (launch.group->order)
    cluster->checker =
        std::make_unique<OrderChecker>(launch, *cluster, numberInGroup);
  if (number < launch.timelines.size())
    cluster->timeline = launch.timelines[number].get();
  return cluster;
}

/// Asks, some twenty times a second, whether the launch shall end.
static void poll(Group &group, std::chrono::steady_clock::time_point &last) {
  auto now = std::chrono::steady_clock::now();
  const auto &interrupted = group.launches.front()->config->interrupted;
  if (!interrupted || now - last < std::chrono::milliseconds(50))
    return;
  last = now;
  if (!interrupted())
    return;
  group.interrupted = true;
  group.stop = true;
}

/// The budget was used up before this cluster began.
static void reportUnstarted(Launch &launch, Worker &worker, uint64_t number) {
  auto cluster = makeCluster(launch, number);
  const Code &entry = *launch.program->codes[0];
  Finding f;
  f.kind = "instruction-budget";
  f.message = budgetMessage(launch) + ": " +
              std::to_string(launch.group->finished) + " of " +
              std::to_string(launch.group->clusterCount) +
              " clusters of CTAs ended";
  f.place.line = entry.insts.front().line;
  f.place.instruction = entry.insts.front().name;
  f.thread = launch.threadOf(cluster->ctas[0]->id, 0, 0);
  worker.findings.push_back({cluster->ctas[0]->linear, std::move(f)});
  launch.group->stop = true;
}

/// The number of the worker's next cluster, which may be beyond the last.
uint64_t tile::sim::takeCluster(Launch &launch, Worker &worker) {
  if (!launch.group->turns)
    return launch.nextCluster++;
  uint64_t number = worker.nextCluster;
  worker.nextCluster += launch.group->turns->count();
  return number;
}

namespace {
struct Resident {
  std::unique_ptr<Cluster> cluster;
  uint32_t gpu = 0;
};
} // namespace

/// A worker takes clusters in order, of each GPU in turn; it has `workers` of
/// each. A cluster that does not end soon goes to the back of the line, so that
/// CTAs may wait for each other.
static void work(Group &group, std::span<Worker> workers, bool polls) {
  // CTAs that may wait for each other take short turns; one that changes
  // nothing for a slice of its turn probably waits, and ends it.
  const bool mayWait = group.synchronizes;
  const LaunchConfig &config = *group.launches.front()->config;
  const uint64_t longTurn = mayWait ? 1 << 14 : 1 << 18,
                 slice = mayWait ? 1 << 10 : longTurn, shortTurn = 256;
  // As many as a GPU has room for.
  const size_t mostResident =
      1056 * group.launches.size() / (group.turns ? group.turns->count() : 1);
  Ctx c;
  auto select = [&](uint32_t gpu) {
    c.launch = group.launches[gpu].get();
    c.worker = &workers[gpu];
    c.checks = c.launch->config->checks;
    c.counting = c.launch->config->counters;
  };
  std::deque<Resident> resident;
  std::unique_ptr<Schedule> schedule;
  if (config.scheduleSeed)
    schedule = std::make_unique<Schedule>(config.scheduleSeed);
  /// GPUs with clusters that have not started, the next one first.
  std::deque<uint32_t> waiting;
  for (uint32_t gpu = 0; gpu < group.launches.size(); ++gpu)
    waiting.push_back(gpu);
  size_t idleTurns = 0; // since one of the clusters did something
  size_t turnsSinceStart = 0;
  auto polled = std::chrono::steady_clock::now();
  while (!group.stop) {
    if (polls)
      poll(group, polled);
    bool start = !waiting.empty() && resident.size() < mostResident;
    // Few to choose from, but those may all wait for one that did not start.
    if (schedule)
      start &= resident.size() < 16 || turnsSinceStart >= 16;
    if (start) {
      uint32_t gpu = waiting.front();
      waiting.pop_front();
      select(gpu);
      uint64_t number = takeCluster(*c.launch, *c.worker);
      if (number >= c.launch->clusterCount) {
        start = false;
      } else if (isOverBudget(*c.launch, 0)) {
        reportUnstarted(*c.launch, *c.worker, number);
        return;
      } else {
        waiting.push_back(gpu);
        auto cluster = makeCluster(*c.launch, number);
        for (auto &cta : cluster->ctas)
          startCta(c, *cta);
        resident.push_front({std::move(cluster), gpu});
        turnsSinceStart = 0;
      }
    }
    if (resident.empty()) {
      if (waiting.empty())
        return;
      continue;
    }
    // A schedule has several clusters to choose from.
    if (schedule && start && schedule->below(4))
      continue;
    if (schedule)
      std::swap(resident.front(),
                resident[schedule->below(uint32_t(resident.size()))]);
    auto [cluster, gpu] = std::move(resident.front());
    resident.pop_front();
    select(gpu);
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
      resident.push_back({std::move(cluster), gpu});
    idleTurns = idle && !finished ? idleTurns + 1 : 0;
    // Who waits for other workers looks less and less often.
    if (group.turns && idleTurns && idleTurns >= resident.size())
      group.turns->pass(workers.front().index,
                        shortTurn * std::min<size_t>(idleTurns, 64));
  }
  if (resident.empty())
    return;
  select(resident.front().gpu);
  reportInterruption(c, *resident.front().cluster);
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

/// Runs all clusters; returns how many workers did. `workers` has those of each
/// thread side by side. Threads that have turns are threads of their own, so
/// that the caller's goes on asking whether the launch shall end.
static unsigned runWorkers(Group &group, std::span<Worker> workers) {
  const size_t gpus = group.launches.size(), count = workers.size() / gpus;
  std::vector<std::thread> pool;
  std::mutex ended;
  std::condition_variable wake;
  size_t done = 0;
  // Workers with turns begin when all are there, or not at all.
  enum : int { Undecided, Begin, Never };
  std::atomic<int> decision = group.turns ? Undecided : Begin;
  auto run = [&](unsigned i) {
    decision.wait(Undecided);
    if (decision == Begin) {
      if (group.turns)
        group.turns->begin(i);
      work(group, workers.subspan(i * gpus, gpus), false);
      if (group.turns)
        group.turns->end(i);
    }
    std::lock_guard guard(ended);
    ++done;
    wake.notify_one();
  };
  unsigned next = group.turns ? 0 : 1;
  while (next < count && startThread(pool, [&run, next] { run(next); }))
    ++next;
  bool all = next == count;
  decision = group.turns && !all ? Never : Begin;
  decision.notify_all();
  auto join = [&] {
    for (std::thread &t : pool)
      t.join();
    pool.clear();
  };
  if (group.turns && !all) {
    join();
    group.turns = nullptr;
    next = 1;
  }
  if (!group.turns)
    work(group, workers.first(gpus), true);
  {
    auto polled = std::chrono::steady_clock::now();
    std::unique_lock guard(ended);
    while (!wake.wait_for(guard, std::chrono::milliseconds(50),
                          [&] { return done >= pool.size(); }))
      poll(group, polled);
  }
  join();
  return next;
}

/// Decodes what a member launches, and gives its memory to the group.
static bool addLaunch(Group &group, const GroupMember &member,
                      const Module::Impl &impl, std::string &error) {
  const Entry *entry = impl.find(member.entry);
  if (!entry) {
    error = "the module has no kernel '" + member.entry + "'";
    if (!impl.entries.empty()) {
      error += "; it has";
      for (auto &[known, e] : impl.entries)
        error += " '" + known + "'";
    }
    return false;
  }
  const Program *decoded = impl.program(*entry);
  if (!decoded) {
    error = entry->error.format(impl.assembly ? "<amdgcn>" : "<ptx>");
    return false;
  }
  const Program &program = *decoded;
  const LaunchConfig &config = member.config;
  if (!checkConfig(program, config, member.args.size(), error))
    return false;
  Launch &launch = *group.launches.emplace_back(std::make_unique<Launch>());
  launch.group = &group;
  launch.gpu = uint32_t(group.launches.size() - 1);
  std::vector<Allocation> &allocations = group.allocations;
  allocations.insert(allocations.end(), config.allocations.begin(),
                     config.allocations.end());
  for (const Module::Impl::Storage &s : impl.storage)
    allocations.push_back({s.address, s.variable->sizeInBytes(),
                           s.variable->name,
                           s.variable->space != Space::Const});
  if (program.usesWorkspace)
    allocations.push_back(
        {uint64_t(reinterpret_cast<uintptr_t>(launch.workspace)),
         sizeof launch.workspace, "the grid's workspace", true});
  ArgumentBuffer &arguments = argumentsOf(config, launch.ownArguments);
  arguments.bytes = member.args;
  arguments.allocations.clear();
  if (!program.bind(config, arguments, error))
    return false;
  allocations.insert(allocations.end(), arguments.allocations.begin(),
                     arguments.allocations.end());
  launch.program = &program;
  group.synchronizes |= program.usesGlobalAtomics;
  launch.config = &config;
  launch.args = arguments.bytes;
  launch.files = &impl.ast.files;
  launch.threadsPerCta = config.block[0] * config.block[1] * config.block[2];
  launch.warpsPerCta =
      (launch.threadsPerCta + program.waveLanes - 1) / program.waveLanes;
  launch.sharedBytes = program.staticShared + config.dynamicShared;
  launch.clusterSize =
      config.cluster[0] * config.cluster[1] * config.cluster[2];
  launch.clusterCount = uint64_t(config.grid[0]) * config.grid[1] *
                        config.grid[2] / launch.clusterSize;
  launch.firstCluster = group.clusterCount;
  group.clusterCount += launch.clusterCount;
  return true;
}

/// What members give twice, they share.
static void sortAllocations(std::vector<Allocation> &allocations) {
  auto range = [](const Allocation &a) { return std::pair(a.base, a.size); };
  std::ranges::sort(allocations, {}, range);
  auto rest = std::ranges::unique(allocations, {}, range);
  allocations.erase(rest.begin(), rest.end());
}

/// Checkers that need to know all launches.
static void prepareChecks(Group &group) {
  if (group.launches.front()->config->checks &
      (CheckRaces | CheckUninitialized | CheckAsync | CheckGlobal)) {
    group.order = std::make_unique<GlobalOrder>(group);
    for (auto &launch : group.launches) {
      uint32_t sites = 0;
      for (auto &code : launch->program->codes) {
        launch->firstSite.push_back(sites);
        sites += uint32_t(code->insts.size());
      }
    }
  }
  for (auto &launch : group.launches) {
    const LaunchConfig &config = *launch->config;
    if (!config.forbidden.empty())
      launch->disjoint =
          std::make_unique<DisjointChecker>(*launch->program, config);
    for (uint64_t i = 0; i < config.timelines && i < launch->clusterCount; ++i)
      launch->timelines.push_back(std::make_unique<Timeline>(*launch));
  }
}

static std::vector<Worker> makeWorkers(const Group &group, unsigned count) {
  std::vector<Worker> workers(count * group.launches.size());
  for (size_t i = 0; i < workers.size(); ++i) {
    const Launch &launch = *group.launches[i % group.launches.size()];
    workers[i].index = unsigned(i / group.launches.size());
    workers[i].nextCluster = workers[i].index;
    for (auto &code : launch.program->codes)
      workers[i].stats.emplace_back(code->insts.size());
  }
  return workers;
}

/// Runs the launches of a group that is complete.
static void runGroup(Group &group, std::vector<Report> &reports) {
  const LaunchConfig &config = *group.launches.front()->config;
  const unsigned hostThreads =
      config.scheduleSeed || config.debugger ? 1
      : config.threads                       ? config.threads
                       : std::max(1u, std::thread::hardware_concurrency());
  bool ordered = group.synchronizes && config.deterministic &&
                 !config.scheduleSeed && !config.debugger;
  // An empty grid has one, too, that finds nothing to do.
  const uint64_t count = std::max<uint64_t>(1, group.clusterCount);
  const unsigned workerCount =
      ordered ? Turns::workersFor(count)
              : unsigned(std::min<uint64_t>(hostThreads, count));
  group.parallel = workerCount > 1;
  if (ordered && group.parallel)
    group.turns = std::make_unique<Turns>(workerCount, hostThreads, group.stop);
  prepareChecks(group);
  std::vector<Worker> workers = makeWorkers(group, workerCount);
  auto begin = std::chrono::steady_clock::now();
  beginDebug(*group.launches.front());
  unsigned used = runWorkers(group, workers);
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  for (auto &launch : group.launches) {
    Report &report = reports.emplace_back();
    report.seconds = seconds;
    report.threads = std::min(used, hostThreads);
    collect(*launch, workers, report);
  }
}

bool tile::sim::launchGroup(std::span<const GroupMember> members,
                            std::vector<Report> &reports, std::string &error) {
  Group group;
  std::vector<std::unique_lock<std::mutex>> locks;
  // Each GPU has variables of its own.
  std::vector<std::shared_ptr<const Module>> copies;
  std::set<const Module *> used;
  for (const GroupMember &member : members) {
    const Module *module = member.module.get();
    if (!used.insert(module).second && !module->impl->storage.empty()) {
      Diagnostic ignored;
      copies.push_back(Module::load(module->impl->text, ignored));
      module = copies.back().get();
    }
    Module::Impl &impl = *module->impl;
    if (!impl.storage.empty()) {
      locks.emplace_back(impl.variables);
      Diagnostic ignored;
      impl.resetVariables(ignored);
    }
    if (member.config.debugger && members.size() > 1) {
      error = "a group of several launches cannot be debugged";
      return false;
    }
    if (!addLaunch(group, member, impl, error))
      return false;
  }
  sortAllocations(group.allocations);
  reports.clear();
  runGroup(group, reports);
  for (size_t i = 0; i < members.size(); ++i)
    reports[i].entry = members[i].entry;
  return true;
}

bool Module::launch(std::string_view name, const LaunchConfig &config,
                    std::span<const std::byte> args, Report &report,
                    std::string &error) const {
  GroupMember member{shared_from_this(), std::string(name), config, args};
  std::vector<Report> reports;
  if (!launchGroup({&member, 1}, reports, error))
    return false;
  report = std::move(reports.front());
  return true;
}
