// ExampleOps.td - A dialect of somebody else

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def ExampleDialect : Dialect {
  let name = "example";
  let cppNamespace = "::example";
}

def SquareOp : Op<ExampleDialect, "square", [Pure, SameOperandsAndResultType]> {
  let summary = "x times x, of each element";
  let arguments = (ins AnyType:$x);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
