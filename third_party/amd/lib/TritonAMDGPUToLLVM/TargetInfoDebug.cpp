//===-- TargetInfoDebug.cpp - Printing and assertions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel prints it writes to a buffer of the host's, to which a hidden
// argument points. It starts with the bytes that are taken and the bytes there
// are. Each record has the number of a format and the arguments. The metadata
// of the code object lists the formats. The run time prints them in the end.
//
//===----------------------------------------------------------------------===//

#include "amd/IR/AttributeNames.h"
#include "amd/TritonAMDGPUToLLVM/TargetInfo.h"

#include "tile/Conversion/TritonGPUToLLVM/Predicate.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::triton;

/// Bytes of an argument of printf.
static unsigned getArgumentBytes(Value arg) {
  return isa<LLVM::LLVMPointerType>(arg.getType())
             ? 8
             : arg.getType().getIntOrFloatBitWidth() / 8;
}

/// Text between the colons of the metadata.
static std::string escape(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '\n')
      result += "\\n";
    else if (c == ':')
      result += "\\72";
    else if (c == '\\')
      result += "\\\\";
    else
      result += c;
  }
  return result;
}

/// Adds a format to those of the module and returns its number.
static unsigned addFormat(const LLVMBuilder &b, StringRef format,
                          ValueRange args) {
  auto module = b.getBuilder()
                    .getInsertionBlock()
                    ->getParentOp()
                    ->getParentOfType<ModuleOp>();
  SmallVector<Attribute> formats;
  if (auto known = module->getAttrOfType<ArrayAttr>(amd::kPrintFormatsAttrName))
    llvm::append_range(formats, known);
  unsigned number = formats.size() + 1;
  std::string entry =
      std::to_string(number) + ":" + std::to_string(args.size());
  for (Value arg : args)
    entry += ":" + std::to_string(getArgumentBytes(arg));
  entry += ":" + escape(format);
  formats.push_back(b.getBuilder().getStringAttr(entry));
  module->setAttr(amd::kPrintFormatsAttrName,
                  b.getBuilder().getArrayAttr(formats));
  return number;
}

/// Takes bytes of the buffer. Returns how many were taken before, and goes on
/// in a block that is reached only if they fit.
static Value reserve(const LLVMBuilder &b, Value buffer, unsigned bytes,
                     Block *otherwise) {
  auto &builder = static_cast<RewriterBase &>(b.getBuilder());
  Type i32 = b.intTy(32);
  constexpr unsigned align = 4;
  Value size = b.load(i32, b.gep(buffer, i32, 1), align);
  // Others change it meanwhile.
  Value first = b.create<LLVM::LoadOp>(
      i32, buffer, align, /*isVolatile=*/false, /*isNonTemporal=*/false,
      /*isInvariant=*/false, /*isInvariantGroup=*/false,
      LLVM::AtomicOrdering::monotonic, StringRef("agent"));
  Block *before = builder.getInsertionBlock();
  Block *loop = builder.createBlock(otherwise, {i32}, {b.getLoc()});
  Block *take = builder.createBlock(otherwise);
  Block *taken = builder.createBlock(otherwise);
  builder.setInsertionPointToEnd(before);
  b.create<LLVM::BrOp>(ValueRange(first), loop);

  builder.setInsertionPointToEnd(loop);
  Value start = loop->getArgument(0);
  Value end = b.add(start, b.i32(bytes));
  b.create<LLVM::CondBrOp>(b.ult(size, end), otherwise, take);

  builder.setInsertionPointToEnd(take);
  auto exchange = b.create<LLVM::AtomicCmpXchgOp>(
      buffer, start, end, LLVM::AtomicOrdering::monotonic,
      LLVM::AtomicOrdering::monotonic, "agent");
  b.create<LLVM::CondBrOp>(b.extractVal(exchange, 1), taken, ValueRange(), loop,
                           ValueRange(b.extractVal(exchange, 0)));
  builder.setInsertionPointToEnd(taken);
  return start;
}

void amd::TargetInfo::printf(const LLVMBuilder &b, StringRef format,
                             ValueRange args) const {
  auto &builder = static_cast<RewriterBase &>(b.getBuilder());
  Type i8 = b.intTy(8);
  unsigned bytes = 4;
  for (Value arg : args)
    bytes += getArgumentBytes(arg);
  unsigned number = addFormat(b, format, args);

  // Where code objects of version 5 have the pointer among hidden arguments.
  constexpr unsigned constantSpace = 4, printBuffer = 72, align = 4;
  constexpr unsigned headerBytes = 8;
  Value hidden =
      b.intrinsic(b.ptrTy(constantSpace), "llvm.amdgcn.implicitarg.ptr", {});
  Value buffer =
      b.load(b.ptrTy(1), b.gep(hidden, i8, printBuffer), /*align=*/8);
  Block *before = builder.getInsertionBlock();
  Block *after = builder.splitBlock(before, builder.getInsertionPoint());
  builder.setInsertionPointToEnd(before);
  Value start = reserve(b, buffer, bytes, after);
  Value place = b.gep(buffer, i8, b.add(start, b.i32(headerBytes)));
  b.store(b.i32(number), place, align);
  unsigned offset = 4;
  for (Value arg : args) {
    b.store(arg, b.gep(place, i8, offset), align);
    offset += getArgumentBytes(arg);
  }
  b.create<LLVM::BrOp>(ValueRange(), after);
  builder.setInsertionPointToStart(after);
}

void amd::TargetInfo::assertFail(const LLVMBuilder &b, StringRef message,
                                 StringRef file, StringRef function,
                                 int line) const {
  std::string text = (file + ":" + Twine(line) + ": " + function +
                      ": assertion '" + message + "' failed\n")
                         .str();
  std::string format;
  for (char c : text)
    format.append(c == '%' ? 2 : 1, c);
  // The trap stops the whole wave, for which one lane speaks.
  Value thread = getThreadId(b);
  Value first = b.intrinsic(b.intTy(32), "llvm.amdgcn.readfirstlane", thread);
  underPredicate(b, b.eq(thread, first), [&] { printf(b, format, {}); });
  // What llvm.trap is, without what RDNA 3 needs of it in privileged code.
  MLIRContext *context = b.getContext();
  b.create<LLVM::InlineAsmOp>(
      TypeRange(), ValueRange(), /*asm_string=*/"s_trap 2",
      /*constraints=*/"~{memory}", /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(context, LLVM::AsmDialect::AD_ATT),
      ArrayAttr());
}
