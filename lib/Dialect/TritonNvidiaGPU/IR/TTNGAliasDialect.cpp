//===-- TTNGAliasDialect.cpp - Reads `ttng` as `ttnvgpu` ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tile/Dialect/TritonNvidiaGPU/IR/TTNGAliasDialect.h"
#include "tile/Dialect/TritonNvidiaGPU/IR/Dialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::triton::nvidia_gpu;

MLIR_DEFINE_EXPLICIT_TYPE_ID(mlir::triton::nvidia_gpu::TTNGAliasDialect)

namespace {

/// Attributes that Triton's passes leave on operations, and that say nothing of
/// what these do. Each block of a cluster gathers for itself, whether or not
/// one may do it for all.
bool isMeaningless(StringRef name, RegisteredOperationName op) {
  if (name == "multicast")
    return op.getStringRef() == AsyncTMAGatherOp::getOperationName();
  return llvm::is_contained({"async_task_id", "warpGroupLocal",
                             "tensor_memory_col_offset",
                             "tensor_memory_row_offset"},
                            name);
}

/// Reads attributes as Triton means them. One that is not known here would
/// silently not hold: it is an error. Those with a dot belong to dialects,
/// which look at them.
ParseResult adoptAttributes(OpAsmParser &parser, SMLoc loc,
                            RegisteredOperationName op, NamedAttrList &attrs) {
  // Without this attribute Triton's wait is for all that copies do.
  if (op.getStringRef() == AsyncTMAStoreWaitOp::getOperationName() &&
      !attrs.erase("read_only"))
    attrs.set("complete", parser.getBuilder().getUnitAttr());
  for (NamedAttribute attr : attrs) {
    StringRef name = attr.getName();
    if (!name.contains('.') && !isMeaningless(name, op) &&
        !llvm::is_contained(op.getAttributeNames(), attr.getName()))
      return parser.emitError(loc) << "unknown attribute '" << name << "' of '"
                                   << op.getStringRef() << "'";
  }
  return success();
}

/// What is known of an alias: how to parse it, and that no operation of this
/// name may exist. The parser of the generic form creates one all the same, so
/// the other hooks have to answer, as for an operation that has nothing.
class AliasModel : public OperationName::Impl {
public:
  AliasModel(StringRef name, Dialect *dialect, TypeID typeID,
             RegisteredOperationName target)
      : Impl(name, dialect, typeID, mlir::detail::InterfaceMap()),
        target(target) {}

  OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    return [target = target](OpAsmParser &parser,
                             OperationState &state) -> ParseResult {
      state.name = target;
      SMLoc loc = parser.getCurrentLocation();
      if (target.getParseAssemblyFn()(parser, state))
        return failure();
      return adoptAttributes(parser, loc, target, state.attributes);
    };
  }

  LogicalResult verifyInvariants(Operation *op) final {
    return refuse(op->emitError());
  }

  // The parser asks these two on the way, earlier than the verifier. That only
  // properties reach the first one keeps this from being said twice.
  LogicalResult
  setPropertiesFromAttr(OperationName, OpaqueProperties, Attribute,
                        function_ref<InFlightDiagnostic()> emitError) final {
    return refuse(emitError());
  }
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &,
                                    function_ref<InFlightDiagnostic()>) final {
    return success();
  }

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>,
                         SmallVectorImpl<OpFoldResult> &) final {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) final {}
  bool hasTrait(TypeID) final { return false; }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) final {
    printer.printGenericOp(op);
  }
  LogicalResult verifyRegionInvariants(Operation *) final { return success(); }
  std::optional<Attribute> getInherentAttr(Operation *, StringRef) final {
    return std::nullopt;
  }
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) final {
    op->setDiscardableAttr(name, value);
  }
  void populateInherentAttrs(Operation *, NamedAttrList &) final {}
  int getOpPropertyByteSize() final { return 0; }
  void initProperties(OperationName, OpaqueProperties, OpaqueProperties) final {
  }
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties) final {}
  Attribute getPropertiesAsAttr(Operation *) final { return {}; }
  void copyProperties(OpaqueProperties, OpaqueProperties) final {}
  bool compareProperties(OpaqueProperties, OpaqueProperties) final {
    return true;
  }
  llvm::hash_code hashProperties(OpaqueProperties) final {
    return llvm::hash_code(0);
  }

private:
  LogicalResult refuse(InFlightDiagnostic diag) {
    return diag << "'" << getName().strref()
                << "' is read in its custom form only; write the generic form "
                   "as \""
                << target.getStringRef() << "\"";
  }

  RegisteredOperationName target;
};

} // namespace

TTNGAliasDialect::TTNGAliasDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<TTNGAliasDialect>()),
      target(context->getOrLoadDialect<TritonNvidiaGPUDialect>()) {
  // Registering inserts into the list of the context: walk a copy.
  SmallVector<RegisteredOperationName> ops(context->getRegisteredOperations());
  for (RegisteredOperationName op : ops)
    if (&op.getDialect() == target)
      registerAlias(op);
}

void TTNGAliasDialect::registerAlias(RegisteredOperationName op) {
  StringRef mnemonic = op.getStringRef();
  mnemonic.consume_front(target->getNamespace());
  RegisteredOperationName::insert(
      std::make_unique<AliasModel>((getNamespace() + mnemonic).str(), this,
                                   typeIDs.allocate(), op),
      /*attrNames=*/{});
}

Attribute TTNGAliasDialect::parseAttribute(DialectAsmParser &parser,
                                           Type type) const {
  return target->parseAttribute(parser, type);
}

Type TTNGAliasDialect::parseType(DialectAsmParser &parser) const {
  return target->parseType(parser);
}
