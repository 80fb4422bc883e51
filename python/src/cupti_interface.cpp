//===-- cupti_interface.cpp - Opens CUPTI ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CuptiInterface.h"

#include <dlfcn.h>

namespace tile::python::cupti {

/// What records look like is the same from this version on.
static constexpr uint32_t oldestVersion = 18; // CUDA 12.0

std::string Functions::open(const std::string &path) {
  void *opened = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!opened)
    return dlerror();
  std::string missing;
  auto find = [&](auto &function, const char *name, bool isOptional = false) {
    void *found = dlsym(opened, name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
    if (!found && !isOptional)
      missing = name;
  };
  find(getVersion, "cuptiGetVersion");
  find(getResultString, "cuptiGetResultString");
  find(subscribe, "cuptiSubscribe");
  find(subscribe2, "cuptiSubscribe_v2", /*isOptional=*/true);
  find(unsubscribe, "cuptiUnsubscribe");
  find(enableCallback, "cuptiEnableCallback");
  find(registerCallbacks, "cuptiActivityRegisterCallbacks");
  find(registerTimestamp, "cuptiActivityRegisterTimestampCallback", true);
  find(enable, "cuptiActivityEnable");
  find(disable, "cuptiActivityDisable");
  find(enableHwTrace, "cuptiActivityEnableHWTrace", true);
  find(flushAll, "cuptiActivityFlushAll");
  find(nextRecord, "cuptiActivityGetNextRecord");
  find(droppedRecords, "cuptiActivityGetNumDroppedRecords");
  find(graphNodeId, "cuptiGetGraphNodeId");
  find(graphId, "cuptiGetGraphId");
  find(graphExecId, "cuptiGetGraphExecId", true);
  find(samplingEnable, "cuptiPCSamplingEnable", true);
  find(samplingDisable, "cuptiPCSamplingDisable", true);
  find(samplingConfigure, "cuptiPCSamplingSetConfigurationAttribute", true);
  find(samplingGetData, "cuptiPCSamplingGetData", true);
  find(samplingReasonCount, "cuptiPCSamplingGetNumStallReasons", true);
  find(samplingReasons, "cuptiPCSamplingGetStallReasons", true);
  find(sassToSource, "cuptiGetSassToSourceCorrelation", true);
  find(cubinCrc, "cuptiGetCubinCrc", true);
  uint32_t version = 0;
  if (missing.empty() && getVersion(&version) == success &&
      version < oldestVersion)
    missing = "what CUPTI of CUDA 12 has";
  if (!missing.empty()) {
    dlclose(opened);
    return path + " lacks " + missing;
  }
  library = opened;
  return "";
}

std::string Functions::describe(int result) const {
  const char *text = nullptr;
  if (getResultString(result, &text) != success || !text)
    return "error " + std::to_string(result);
  return text;
}

} // namespace tile::python::cupti
