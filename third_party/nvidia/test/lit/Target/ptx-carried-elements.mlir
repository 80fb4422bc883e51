// RUN: tile-opt %s -tile-nvidia-ptx -o %t.mlir | filecheck %s

// Four bytes or two halves that a loop carries are carried as one word, where
// they are needed as one, or come from one.

module attributes {"ttg.num-warps" = 1 : i32, "ttg.num-ctas" = 1 : i32, ttg.target = "cuda:90"} {
// CHECK: .visible .entry words(
// CHECK-NOT: b16
// CHECK: // use
// CHECK-NOT: b16
// CHECK: ret;
llvm.func @words(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %c2 = llvm.mlir.constant(2 : i32) : i32
  %c3 = llvm.mlir.constant(3 : i32) : i32
  %z = llvm.mlir.constant(0 : i8) : i8
  %poison = llvm.mlir.poison : vector<4xi8>
  llvm.br ^loop(%c0, %z, %z, %z, %z : i32, i8, i8, i8, i8)
^loop(%i: i32, %a: i8, %b: i8, %c: i8, %d: i8):
  %v0 = llvm.insertelement %a, %poison[%c0 : i32] : vector<4xi8>
  %v1 = llvm.insertelement %b, %v0[%c1 : i32] : vector<4xi8>
  %v2 = llvm.insertelement %c, %v1[%c2 : i32] : vector<4xi8>
  %v3 = llvm.insertelement %d, %v2[%c3 : i32] : vector<4xi8>
  %w = llvm.bitcast %v3 : vector<4xi8> to i32
  llvm.inline_asm has_side_effects "// use $0", "r" %w : (i32) -> ()
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %l = llvm.load %q : !llvm.ptr<1> -> i32
  %u = llvm.bitcast %l : i32 to vector<4xi8>
  %e0 = llvm.extractelement %u[%c0 : i32] : vector<4xi8>
  %e1 = llvm.extractelement %u[%c1 : i32] : vector<4xi8>
  %e2 = llvm.extractelement %u[%c2 : i32] : vector<4xi8>
  %e3 = llvm.extractelement %u[%c3 : i32] : vector<4xi8>
  %next = llvm.add %i, %c1 : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next, %e0, %e1, %e2, %e3 : i32, i8, i8, i8, i8), ^end
^end:
  llvm.return
}

// CHECK: .visible .entry halves(
// CHECK-NOT: b16
// CHECK: // use
// CHECK-NOT: b16
// CHECK: ret;
llvm.func @halves(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %z = llvm.mlir.constant(0.0 : f16) : f16
  %poison = llvm.mlir.poison : vector<2xf16>
  llvm.br ^loop(%c0, %z, %z : i32, f16, f16)
^loop(%i: i32, %a: f16, %b: f16):
  %v0 = llvm.insertelement %a, %poison[%c0 : i32] : vector<2xf16>
  %v1 = llvm.insertelement %b, %v0[%c1 : i32] : vector<2xf16>
  %w = llvm.bitcast %v1 : vector<2xf16> to i32
  llvm.inline_asm has_side_effects "// use $0", "r" %w : (i32) -> ()
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %l = llvm.load %q : !llvm.ptr<1> -> i32
  %u = llvm.bitcast %l : i32 to vector<2xf16>
  %e0 = llvm.extractelement %u[%c0 : i32] : vector<2xf16>
  %e1 = llvm.extractelement %u[%c1 : i32] : vector<2xf16>
  %next = llvm.add %i, %c1 : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next, %e0, %e1 : i32, f16, f16), ^end(%e0, %e1 : f16, f16)
^end(%x: f16, %y: f16):
  // Past the loop, too.
  %o0 = llvm.insertelement %x, %poison[%c0 : i32] : vector<2xf16>
  %o1 = llvm.insertelement %y, %o0[%c1 : i32] : vector<2xf16>
  llvm.store %o1, %p : vector<2xf16>, !llvm.ptr<1>
  llvm.return
}

// What is needed by itself stays by itself.
// CHECK: .visible .entry needed(
// CHECK: b16
// CHECK: ret;
llvm.func @needed(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %z = llvm.mlir.constant(0.0 : f16) : f16
  %poison = llvm.mlir.poison : vector<2xf16>
  llvm.br ^loop(%c0, %z, %z : i32, f16, f16)
^loop(%i: i32, %a: f16, %b: f16):
  %v0 = llvm.insertelement %a, %poison[%c0 : i32] : vector<2xf16>
  %v1 = llvm.insertelement %b, %v0[%c1 : i32] : vector<2xf16>
  %w = llvm.bitcast %v1 : vector<2xf16> to i32
  llvm.inline_asm has_side_effects "// use $0", "r" %w : (i32) -> ()
  %wide = llvm.fpext %a : f16 to f32
  llvm.inline_asm has_side_effects "// wide $0", "f" %wide : (f32) -> ()
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
  %e0 = llvm.load %q : !llvm.ptr<1> -> f16
  %next = llvm.add %i, %c1 : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next, %e0, %e0 : i32, f16, f16), ^end
^end:
  llvm.return
}

// Halves of one word that each branch loads come as that word. Whoever needs one
// takes it out.
// CHECK: .visible .entry from_branches(
// CHECK-NOT: mov.b32 {
// CHECK: ld.global
// CHECK-NOT: mov.b32 {
// CHECK: ld.global
// CHECK: mov.b32 {
// CHECK: // wide
// CHECK: ret;
llvm.func @from_branches(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %cond: i1) attributes {nvvm.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  llvm.cond_br %cond, ^then, ^else
^then:
  %l = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %u = llvm.bitcast %l : i32 to vector<2xf16>
  %e0 = llvm.extractelement %u[%c0 : i32] : vector<2xf16>
  %e1 = llvm.extractelement %u[%c1 : i32] : vector<2xf16>
  llvm.inline_asm has_side_effects "// then", "" : () -> ()
  llvm.br ^end(%e0, %e1 : f16, f16)
^else:
  %m = llvm.load %q {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %v = llvm.bitcast %m : i32 to vector<2xf16>
  %f0 = llvm.extractelement %v[%c0 : i32] : vector<2xf16>
  %f1 = llvm.extractelement %v[%c1 : i32] : vector<2xf16>
  llvm.inline_asm has_side_effects "// else", "" : () -> ()
  llvm.br ^end(%f0, %f1 : f16, f16)
^end(%x: f16, %y: f16):
  %w0 = llvm.fpext %x : f16 to f32
  %w1 = llvm.fpext %y : f16 to f32
  llvm.inline_asm has_side_effects "// wide $0 $1", "f,f" %w0, %w1 : (f32, f32) -> ()
  llvm.return
}

// So do those that a loop loads for its next iteration, and zeros of the first.
// CHECK: .visible .entry loaded_ahead(
// CHECK: mov.b32 [[WORD:%r[0-9]+]], 0;
// CHECK: mov.b32 {{.*}}, [[WORD]];
// CHECK: // wide
// CHECK: ld.volatile.global.b32 [[WORD]],
// CHECK: ret;
llvm.func @loaded_ahead(%p: !llvm.ptr<1>, %n: i32) attributes {nvvm.kernel} {
  %c0 = llvm.mlir.constant(0 : i32) : i32
  %c1 = llvm.mlir.constant(1 : i32) : i32
  %z = llvm.mlir.constant(0.0 : f16) : f16
  llvm.br ^loop(%c0, %z, %z : i32, f16, f16)
^loop(%i: i32, %a: f16, %b: f16):
  %w0 = llvm.fpext %a : f16 to f32
  %w1 = llvm.fpext %b : f16 to f32
  llvm.inline_asm has_side_effects "// wide $0 $1", "f,f" %w0, %w1 : (f32, f32) -> ()
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
  %l = llvm.load volatile %q {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  %u = llvm.bitcast %l : i32 to vector<2xf16>
  %e0 = llvm.extractelement %u[%c0 : i32] : vector<2xf16>
  %e1 = llvm.extractelement %u[%c1 : i32] : vector<2xf16>
  %next = llvm.add %i, %c1 : i32
  %more = llvm.icmp "slt" %next, %n : i32
  llvm.cond_br %more, ^loop(%next, %e0, %e1 : i32, f16, f16), ^end
^end:
  llvm.return
}
}
