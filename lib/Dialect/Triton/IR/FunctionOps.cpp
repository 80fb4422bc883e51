//===-- FunctionOps.cpp - Functions and the launch grid -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "tile/Dialect/Triton/IR/Dialect.h"

using namespace mlir;
using namespace mlir::triton;

//===----------------------------------------------------------------------===//
// FuncOp
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   FunctionType type, ArrayRef<NamedAttribute> attrs,
                   ArrayRef<DictionaryAttr> argAttrs) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.function_type = TypeAttr::get(type);
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
  if (argAttrs.empty())
    return;
  assert(type.getNumInputs() == argAttrs.size() &&
         "expected one dictionary per argument");
  call_interface_impl::addArgAndResultAttrs(
      builder, state, argAttrs, /*resultAttrs=*/{},
      getArgAttrsAttrName(state.name), getResAttrsAttrName(state.name));
}

bool FuncOp::isNoinline() {
  auto noinline = (*this)->getAttrOfType<BoolAttr>(getNoinlineAttrName());
  return noinline && noinline.getValue();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildFuncType =
      [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
         function_interface_impl::VariadicFlag,
         std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildFuncType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

//===----------------------------------------------------------------------===//
// CallOp, ReturnOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyTypesMatch(Operation *op, TypeRange expected,
                                      TypeRange found, StringRef what) {
  if (expected.size() != found.size())
    return op->emitOpError("expected ")
           << expected.size() << " " << what << "s, found " << found.size();
  for (auto [i, types] : llvm::enumerate(llvm::zip(expected, found)))
    if (std::get<0>(types) != std::get<1>(types))
      return op->emitOpError("expected type ")
             << std::get<0>(types) << " for " << what << " #" << i << ", found "
             << std::get<1>(types);
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  auto callee =
      symbolTable.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("expected the name of a tt.func, found ")
           << getCalleeAttr();
  FunctionType type = callee.getFunctionType();
  if (failed(verifyTypesMatch(*this, type.getInputs(), getOperandTypes(),
                              "argument")))
    return failure();
  return verifyTypesMatch(*this, type.getResults(), getResultTypes(), "result");
}

LogicalResult ReturnOp::verify() {
  auto func = cast<FuncOp>((*this)->getParentOp());
  return verifyTypesMatch(*this, func.getFunctionType().getResults(),
                          getOperandTypes(), "returned value");
}
