//===-- cupti.cpp - Bindings of the CUPTI recorder ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Bindings.h"
#include "CuptiRecorder.h"

#include "tile/Simulator/Demangle.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace tile::python::cupti;
using tile::sim::demangle;

static nb::tuple take() {
  Recorded recorded;
  std::vector<std::string> names;
  {
    nb::gil_scoped_release unlocked;
    recorded = Recorder::get().take();
    names = Recorder::get().getNames();
  }
  nb::list readable;
  for (const std::string &name : names)
    readable.append(demangle(name));
  auto placeOf = [&](const LaunchSite &place) {
    nb::object captured = nb::none();
    if (place.isReplay)
      captured = nb::make_tuple(place.captured.path, place.captured.epoch);
    return nb::make_tuple(place.path, place.epoch, readable[place.name],
                          place.device, captured);
  };
  nb::list sums, events, replays;
  for (const auto &[place, sum] : recorded.sums)
    sums.append(nb::make_tuple(placeOf(place), sum.count, sum.nanoseconds));
  for (const Event &event : recorded.events)
    events.append(nb::make_tuple(placeOf(event.place), event.scope, event.start,
                                 event.end, event.stream, event.replay));
  for (const Replay &replay : recorded.replays) {
    nb::object graph = nb::none();
    if (replay.isKnown)
      graph = nb::int_(Recorder::get().getOriginalGraph(replay.graph));
    replays.append(nb::make_tuple(replay.exec, graph, replay.made,
                                  replay.where.path, replay.epoch));
  }
  return nb::make_tuple(sums, events, replays, recorded.dropped);
}

static nb::tuple takeSamples() {
  nb::list lines;
  Samples taken;
  {
    nb::gil_scoped_release unlocked;
    taken = Recorder::get().getSampler().take();
  }
  for (const SampledLine &line : taken.lines) {
    nb::dict reasons;
    for (const auto &[name, samples] : line.reasons)
      reasons[name.c_str()] = samples;
    lines.append(nb::make_tuple(line.path, line.epoch, demangle(line.function),
                                line.file, line.line, line.samples, reasons));
  }
  return nb::make_tuple(lines, taken.dropped);
}

void tile::python::populateCupti(nb::module_ &m) {
  m.def(
      "start",
      [](const std::string &library, size_t bufferSize, bool withNvtx,
         bool withHwTrace) {
        nb::gil_scoped_release unlocked;
        return Recorder::get().start(library, bufferSize, withNvtx,
                                     withHwTrace);
      },
      nb::arg("library"), nb::arg("buffer_size"), nb::arg("nvtx"),
      nb::arg("hw_trace"), "Starts; returns why not, or an empty text.");
  m.def(
      "start_sampling",
      [](unsigned period) {
        nb::gil_scoped_release unlocked;
        return Recorder::get().startSampling(period);
      },
      nb::arg("period"),
      "Samples the program counter, too, every 2^period cycles; returns why "
      "not, or an empty text.");
  m.def("take_samples", takeSamples,
        "The samples since the last call: path, epoch, kernel, file, line, "
        "how many, and how many by the reason for which the warp waited. Then "
        "the number of samples that were dropped.");
  m.def(
      "stop",
      [] {
        nb::gil_scoped_release unlocked;
        Recorder::get().stop();
      },
      "Stops.");
  m.def(
      "flush",
      [](bool force) {
        nb::gil_scoped_release unlocked;
        Recorder::get().flush(force);
      },
      nb::arg("force"), "Takes the buffers of records that are done.");
  m.def("take", take,
        "What was recorded since the last call: sums by place, events, "
        "launches of graphs (with the graph, None where nobody saw it made, "
        "and the epoch in which it was made), "
        "and the number of records that were dropped.");
  m.def(
      "is_pending",
      [](const std::vector<uint32_t> &epochs) {
        return Recorder::get().isPending(epochs);
      },
      nb::arg("epochs"), "Whether launches of these epochs are not recorded.");
  m.def(
      "captured_graph",
      [](uint64_t stream) -> std::optional<uint32_t> {
        void *handle = reinterpret_cast<void *>(stream);
        uint32_t graph = Recorder::get().getCapturedGraph(handle);
        return graph ? std::optional(graph) : std::nullopt;
      },
      nb::arg("stream"), "The graph that a stream is captured into.");
  m.def(
      "set_where",
      [](uint32_t path, uint64_t scope) {
        Recorder::get().setWhere({path, scope});
      },
      nb::arg("path"), nb::arg("scope"), "What this thread does from now on.");
  m.def(
      "set_epoch",
      [](uint32_t epoch, bool isActive) {
        Recorder::get().setEpoch(epoch, isActive);
      },
      nb::arg("epoch"), nb::arg("active"), "What is active from now on.");
  m.def(
      "set_wants_events",
      [](bool wanted) { Recorder::get().setWantsEvents(wanted); },
      nb::arg("wanted"), "Whether each launch is an event of its own.");
  m.def(
      "set_locate",
      [](nb::object function) {
        auto &locate = Recorder::get().locate;
        if (function.is_none()) {
          locate = nullptr;
          return;
        }
        // Kept forever: a callback may run while another thread changes it.
        PyObject *held = function.release().ptr();
        locate = [held]() -> uint32_t {
          nb::gil_scoped_acquire locked;
          PyObject *result = PyObject_CallNoArgs(held);
          if (!result) {
            PyErr_WriteUnraisable(held);
            return 0;
          }
          uint32_t path = uint32_t(PyLong_AsUnsignedLong(result));
          Py_DECREF(result);
          return path;
        };
      },
      nb::arg("function").none(),
      "What gives the path of a launch, where the path depends on the stack.");
  m.def(
      "set_on_range",
      [](nb::object function) {
        PyObject *held = function.release().ptr();
        Recorder::get().onRange = [held](const char *name) {
          nb::gil_scoped_acquire locked;
          PyObject *result = PyObject_CallFunction(held, "z", name);
          if (!result)
            PyErr_WriteUnraisable(held);
          Py_XDECREF(result);
        };
      },
      nb::arg("function"), "Called where NVTX ranges begin and end.");
}
