//===-- tile-reference.cpp - Validates passes by executing modules --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each line of the input is a request, an object of JSON:
//
//   module      the text of a module
//   pipelines   passes, as tile-opt takes them; each is run on what the one
//               before it made. None: the module is executed, and that is all.
//   memory      a list of {address, size}: arrays, whose contents are in `data`
//   data        a file with the contents of all arrays, one after the other;
//               those after the first execution are written there
//   arguments   of the kernel, as the bits of numbers and addresses
//   grid        three numbers
//   outputs     a list of {name, address, size, type, tolerance}
//
// Each line of the output is the answer to one: see `answer`.
//
//===----------------------------------------------------------------------===//

#include "Validate.h"

#include "TestPasses.h"
#include "tile/Pipeline/AnyAnchor.h"
#include "tile/Pipeline/InitAll.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <iostream>

using namespace mlir;
using namespace mlir::triton;
using namespace mlir::triton::reference;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

static uint64_t getNumber(const json::Object &object, StringRef name) {
  const json::Value *value = object.get(name);
  return value ? value->getAsUINT64().value_or(0) : 0;
}

static Type parseElementType(StringRef name, MLIRContext *context) {
  if (Type type = parseType(name, context))
    return type;
  return IntegerType::get(context, 8);
}

/// What a request says of a launch. Fails, and says why, if that is not enough.
static LogicalResult readLaunch(const json::Object &request, Launch &launch,
                                MLIRContext *context, std::string &error) {
  auto file = llvm::MemoryBuffer::getFile(
      request.getString("data").value_or(""), /*IsText=*/false,
      /*RequiresNullTerminator=*/false);
  if (!file) {
    error = "`data` cannot be read";
    return failure();
  }
  ArrayRef<uint8_t> data = llvm::arrayRefFromStringRef((*file)->getBuffer());
  if (const json::Array *arrays = request.getArray("memory"))
    for (const json::Value &value : *arrays) {
      const json::Object &array = *value.getAsObject();
      uint64_t size = getNumber(array, "size");
      if (size > data.size()) {
        error = "`data` has less than all arrays";
        return failure();
      }
      launch.memory.add(getNumber(array, "address"), data.take_front(size));
      data = data.drop_front(size);
    }
  if (const json::Array *arguments = request.getArray("arguments"))
    for (const json::Value &value : *arguments)
      launch.arguments.push_back(value.getAsUINT64().value_or(0));
  if (const json::Array *grid = request.getArray("grid"))
    for (auto [extent, value] : llvm::zip(launch.grid, *grid))
      extent = value.getAsUINT64().value_or(1);
  if (const json::Array *outputs = request.getArray("outputs"))
    for (const json::Value &value : *outputs) {
      const json::Object &output = *value.getAsObject();
      launch.outputs.push_back(
          {output.getString("name").value_or("").str(),
           getNumber(output, "address"), getNumber(output, "size"),
           parseElementType(output.getString("type").value_or("i8"), context),
           output.getNumber("tolerance").value_or(0)});
    }
  return success();
}

/// Writes the arrays where they were read, in the same order.
static void writeMemory(const json::Object &request,
                        const Execution &execution) {
  std::error_code error;
  llvm::raw_fd_ostream os(request.getString("data").value_or(""), error);
  const json::Array *arrays = request.getArray("memory");
  if (error || !arrays)
    return;
  for (const json::Value &value : *arrays)
    for (const DeviceMemory::Region &region : execution.memory.regions)
      if (region.address == getNumber(*value.getAsObject(), "address"))
        os << llvm::toStringRef(region.bytes.data);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

static StringRef getName(Outcome::Kind kind) {
  switch (kind) {
  case Outcome::Finished:
    return "finished";
  case Outcome::Fault:
    return "fault";
  case Outcome::Unknown:
    return "unknown";
  case Outcome::Limit:
    return "limit";
  }
  llvm_unreachable("all kinds are covered");
}

/// Runs what a request asks for.
static json::Object answer(const json::Object &request, MLIRContext *context) {
  std::string errors;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors += diagnostic.str() + "\n";
    return success();
  });
  auto refuse = [&](StringRef why) {
    return json::Object{{"status", "refused"}, {"why", why.str() + errors}};
  };
  Launch launch;
  std::string error;
  if (failed(readLaunch(request, launch, context, error)))
    return refuse(error);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      request.getString("module").value_or(""), context);
  if (!module)
    return refuse("the module cannot be read: ");

  auto owned = std::make_unique<Validator>(*module, launch);
  Validator *validator = owned.get();
  // A copy, because an instrumentation belongs to its pass manager.
  struct Forward : PassInstrumentation {
    explicit Forward(Validator *to) : to(to) {}
    void runAfterPass(Pass *pass, Operation *op) override {
      to->runAfterPass(pass, op);
    }
    Validator *to;
  };
  writeMemory(request, validator->first);
  std::string refused;
  if (const json::Array *pipelines = request.getArray("pipelines"))
    for (const json::Value &value : *pipelines) {
      PassManager manager(context);
      manager.addInstrumentation(std::make_unique<Forward>(validator));
      std::string text = value.getAsString().value_or("").str();
      llvm::raw_string_ostream os(errors);
      if (failed(parsePassPipeline(text, manager, os)) ||
          failed(runOnModule(manager)))
        return refuse("a pipeline cannot be read: ");
      if (failed(manager.run(*module))) {
        refused = errors;
        break;
      }
    }
  json::Object undefined;
  for (const Output &output : launch.outputs)
    if (uint64_t count = countUndefined(validator->first, output))
      undefined[output.name] = count;
  json::Object skipped;
  for (auto [name, count] : validator->skipped)
    skipped[name] = count;
  return json::Object{{"status", validator->guilty.empty()
                                     ? getName(validator->first.outcome.kind)
                                     : "different"},
                      {"pass", validator->guilty},
                      {"difference", validator->difference},
                      {"mended", json::Array(validator->mended)},
                      {"versions", validator->numVersions},
                      {"partial", validator->numPartial},
                      {"operations", validator->numOperations},
                      {"undefined", std::move(undefined)},
                      {"skipped", std::move(skipped)},
                      {"programs", validator->first.numPrograms},
                      {"stand_ins", validator->hasStandIns},
                      {"why", validator->why},
                      {"refused", refused},
                      {"passes", json::Array(validator->passes)}};
}

int main() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  registerTileTestPasses();
  registerTileTestTargets(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string line;
  while (std::getline(std::cin, line)) {
    llvm::Expected<json::Value> request = json::parse(line);
    json::Object reply;
    if (request && request->getAsObject())
      reply = answer(*request->getAsObject(), &context);
    else
      reply = json::Object{{"status", "refused"},
                           {"why", "a request is an object of JSON"}};
    if (!request)
      llvm::consumeError(request.takeError());
    llvm::outs() << json::Value(std::move(reply)) << "\n";
    llvm::outs().flush();
  }
  return 0;
}
