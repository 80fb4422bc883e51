//===-- cupti_sampling.cpp - Samples of the program counter ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CuptiSampling.h"

#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

namespace tile::python::cupti {

static constexpr uint32_t serializedMode = 2, parsedFormat = 1;
static constexpr size_t nameSize = 128, mostPcs = 4096;

//===-- Contexts ----------------------------------------------------------===//

namespace {
/// Memory for samples.
struct Buffer {
  std::vector<SampledPc> pcs;
  std::vector<StallReason> reasons;
  SampledData data;

  explicit Buffer(size_t reasonCount)
      : pcs(mostPcs), reasons(mostPcs * reasonCount) {
    std::memset(&data, 0, sizeof data);
    data.size = sizeof data;
    data.capacity = mostPcs;
    data.pcs = pcs.data();
    for (size_t i = 0; i < mostPcs; ++i) {
      std::memset(&pcs[i], 0, sizeof pcs[i]);
      pcs[i].size = sizeof pcs[i];
      pcs[i].reasons = reasons.data() + i * reasonCount;
    }
  }
};
} // namespace

struct Sampler::Context {
  std::vector<uint32_t> reasonIndices;
  /// By index.
  std::unordered_map<uint32_t, std::string> reasonNames;
  /// CUPTI collects into one, and moves to the other what is asked for.
  Buffer collected, taken;

  explicit Context(size_t reasonCount)
      : reasonIndices(reasonCount), collected(reasonCount), taken(reasonCount) {
  }
};

/// `smsp__pcsamp_warps_issue_stalled_wait` waits as `stalled_wait`; warps that
/// could issue, and did not, are counted twice by CUPTI, and once here.
static std::string shorten(const std::string &name) {
  static const std::string prefix = "smsp__pcsamp_warps_issue_";
  return name.compare(0, prefix.size(), prefix) == 0
             ? name.substr(prefix.size())
             : name;
}
static bool isCountedTwice(const std::string &name) {
  static const std::string suffix = "_not_issued";
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

Sampler::Sampler() = default;
Sampler::~Sampler() = default;

std::string Sampler::start(const Functions &functions, void *context,
                           unsigned period) {
  this->functions = &functions;
  this->period = period;
  if (!functions.samplingEnable)
    return "this CUPTI has no sampling";
  return startIn(context);
}

std::string Sampler::startIn(void *context) {
  auto failed = [&](int result) {
    return "the driver refuses samples of the program counter: " +
           functions->describe(result);
  };
  ContextParameters enable = {sizeof enable, nullptr, context};
  if (int result = functions->samplingEnable(&enable))
    return failed(result);
  auto undone = [&](int result) {
    functions->samplingDisable(&enable);
    return failed(result);
  };
  size_t count = 0;
  CountParameters number = {sizeof number, nullptr, context, &count};
  if (int result = functions->samplingReasonCount(&number))
    return undone(result);

  auto made = std::make_unique<Context>(count);
  std::vector<char> text(count * nameSize);
  std::vector<char *> names(count);
  for (size_t i = 0; i < count; ++i)
    names[i] = text.data() + i * nameSize;
  ReasonParameters reasons = {
      sizeof reasons, nullptr, context, count, made->reasonIndices.data(),
      names.data()};
  if (int result = functions->samplingReasons(&reasons))
    return undone(result);
  for (size_t i = 0; i < count; ++i)
    made->reasonNames[made->reasonIndices[i]] = shorten(names[i]);

  Attribute attributes[5] = {};
  attributes[0].kind = Period;
  attributes[0].number = period;
  attributes[1].kind = Reasons;
  attributes[1].reasons = {count, made->reasonIndices.data()};
  attributes[2].kind = CollectionMode;
  attributes[2].number = serializedMode;
  attributes[3].kind = OutputFormat;
  attributes[3].number = parsedFormat;
  attributes[4].kind = DataBuffer;
  attributes[4].buffer = &made->collected.data;
  ConfigurationParameters configuration = {sizeof configuration, nullptr,
                                           context, 5, attributes};
  if (int result = functions->samplingConfigure(&configuration))
    return undone(result);
  std::lock_guard lock(mutex);
  contexts[context] = std::move(made);
  return "";
}

std::vector<void *> Sampler::getContexts() {
  std::lock_guard lock(mutex);
  std::vector<void *> known;
  for (const auto &[context, made] : contexts)
    known.push_back(context);
  return known;
}

void Sampler::stop() {
  for (void *context : getContexts()) {
    ContextParameters disable = {sizeof disable, nullptr, context};
    functions->samplingDisable(&disable);
  }
  std::lock_guard lock(mutex);
  contexts.clear();
  cubins.clear();
  launches.clear();
}

//===-- Samples -----------------------------------------------------------===//

void Sampler::addModule(const ModuleCall &module) {
  CrcParameters crc = {sizeof crc, module.size, module.cubin, 0};
  if (!functions || functions->cubinCrc(&crc) != success)
    return;
  std::lock_guard lock(mutex);
  cubins.try_emplace(crc.crc, module.cubin, module.size);
}

void Sampler::addLaunch(uint32_t correlation, uint32_t path, uint32_t epoch) {
  std::lock_guard lock(mutex);
  launches[correlation] = {path, epoch};
}

void Sampler::collect(void *context) {
  std::unique_lock lock(mutex);
  auto it = contexts.find(context);
  if (it == contexts.end()) {
    // A context that was made later is sampled from its next launch on.
    lock.unlock();
    if (functions && context)
      startIn(context);
    return;
  }
  Context &known = *it->second;
  SampledData &data = known.taken.data;
  do {
    DataParameters parameters = {sizeof parameters, nullptr, context, &data};
    if (functions->samplingGetData(&parameters) != success)
      return;
    for (size_t i = 0; i < data.count; ++i)
      add(known, known.taken.pcs[i]);
    dropped += data.dropped;
  } while (data.left);
}

void Sampler::lookUp(uint64_t cubin, const char *function, uint64_t offset,
                     std::string &file, uint32_t &line) {
  auto it = cubins.find(cubin);
  if (it == cubins.end())
    return;
  SourceParameters source = {};
  source.size = sizeof source;
  source.cubin = it->second.data();
  source.cubinSize = it->second.size();
  source.function = function;
  source.offset = offset;
  if (functions->sassToSource(&source) != success)
    return;
  if (source.file && source.line) {
    bool isWhole = source.file[0] == '/' || !source.folder || !*source.folder;
    file =
        isWhole ? source.file : std::string(source.folder) + "/" + source.file;
    line = source.line;
  }
  std::free(source.file);
  std::free(source.folder);
}

void Sampler::add(const Context &context, const SampledPc &pc) {
  auto launch = launches.find(pc.correlation);
  std::string function = pc.function ? pc.function : "", file;
  uint32_t line = 0;
  // Records share the text of the name, which stays.
  lookUp(pc.cubin, function.c_str(), pc.offset, file, line);
  if (launch == launches.end())
    return;
  auto [path, epoch] = launch->second;
  SampledLine &found = lines[{path, epoch, function, file, line}];
  found.path = path;
  found.epoch = epoch;
  found.function = function;
  found.file = file;
  found.line = line;
  for (size_t i = 0; i < pc.reasonCount; ++i) {
    auto name = context.reasonNames.find(pc.reasons[i].index);
    if (!pc.reasons[i].samples || name == context.reasonNames.end() ||
        isCountedTwice(name->second))
      continue;
    found.samples += pc.reasons[i].samples;
    found.reasons[name->second] += pc.reasons[i].samples;
  }
}

Samples Sampler::take() {
  for (void *context : getContexts())
    collect(context);
  std::lock_guard lock(mutex);
  Samples taken;
  for (auto &[key, line] : lines)
    taken.lines.push_back(std::move(line));
  taken.dropped = std::exchange(dropped, 0);
  lines.clear();
  return taken;
}

} // namespace tile::python::cupti
