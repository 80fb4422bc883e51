// RUN: tile-opt %s -allow-unregistered-dialect -nvws-partition-loops -canonicalize | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!t = tensor<128xi32, #blocked>
module attributes {"ttg.num-warps" = 4 : i32} {
// Each partition has what it runs, and the arguments that it is to have.
// CHECK-LABEL: @two
// CHECK: nvws.warp_group
// CHECK-NEXT: partition0 num_warps(4)
// CHECK-NEXT: scf.for {{.*}} iter_args([[A:%.*]] = %arg0)
// CHECK-NEXT: [[X:%.*]] = "a"([[A]])
// CHECK-NEXT: scf.yield [[X]]
// CHECK: nvws.warp_group.yield
// CHECK: partition1 num_warps(4)
// CHECK-NEXT: scf.for {{.*}} iter_args([[B:%.*]] = %arg1)
// CHECK-NEXT: [[Y:%.*]] = "b"([[B]])
// CHECK-NEXT: scf.yield [[Y]]
// CHECK: nvws.warp_group.return
// CHECK-NOT: ttg.partition
tt.func @two(%x: i32, %y: i32, %n: i32) {
  scf.for %i = %x to %n step %y iter_args(%a = %x, %b = %y) -> (i32, i32) : i32 {
    %0 = "a"(%a) {ttg.partition = array<i32: 0>} : (i32) -> i32
    %1 = "b"(%b) {ttg.partition = array<i32: 1>} : (i32) -> i32
    scf.yield {ttg.partition = array<i32: 0, 1>} %0, %1 : i32, i32
  } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 0>, array<i32: 1>], ttg.partition.stages = [0, 0], ttg.warp_specialize.tag = 0 : i32}
  tt.return
}

// One partition is no reason to divide a loop.
// CHECK-LABEL: @one
// CHECK-NOT: nvws.warp_group
// CHECK: tt.return
tt.func @one(%x: i32, %n: i32) {
  scf.for %i = %x to %n step %x : i32 {
    "a"(%i) {ttg.partition = array<i32: 0>} : (i32) -> ()
  } {ttg.partition = array<i32: 0>, ttg.partition.stages = [0], ttg.warp_specialize.tag = 0 : i32}
  tt.return
}

// What has the tag of the loop goes with its partition, and the rest stays.
// CHECK-LABEL: @around
// CHECK: "stays_before"
// CHECK-NEXT: [[R:%.*]] = nvws.warp_group
// CHECK-NEXT: partition0
// CHECK-NEXT: [[L:%.*]] = scf.for
// CHECK: nvws.warp_group.yield [[L]]
// CHECK: partition1
// CHECK-NEXT: [[S:%.*]] = "before"
// CHECK-NEXT: [[M:%.*]] = scf.for {{.*}} iter_args(%{{.*}} = [[S]])
// CHECK: "behind"([[M]])
// CHECK: }
// CHECK: "stays_behind"([[R]])
tt.func @around(%x: i32, %n: i32) {
  %s = "before"() {ttg.partition = array<i32: 1>, ttg.warp_specialize.tag = 3 : i32} : () -> i32
  "stays_before"() : () -> ()
  %r:2 = scf.for %i = %x to %n step %x iter_args(%a = %x, %b = %s) -> (i32, i32) : i32 {
    %0 = "a"(%a) {ttg.partition = array<i32: 0>} : (i32) -> i32
    %1 = "b"(%b) {ttg.partition = array<i32: 1>} : (i32) -> i32
    scf.yield {ttg.partition = array<i32: 0, 1>} %0, %1 : i32, i32
  } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 0>, array<i32: 1>], ttg.warp_specialize.tag = 3 : i32}
  "behind"(%r#1) {ttg.partition = array<i32: 1>, ttg.warp_specialize.tag = 3 : i32} : (i32) -> ()
  "stays_behind"(%r#0) : (i32) -> ()
  tt.return
}

// A tensor of another partition passes through shared memory.
// CHECK-LABEL: @result
// CHECK: [[BUF:%.*]] = ttg.local_alloc : ()
// CHECK: partition1
// CHECK: [[R:%.*]] = scf.for
// CHECK: ttg.local_store [[R]], [[BUF]]
// CHECK-NEXT: nvws.warp_group.return
// CHECK: [[OUT:%.*]] = ttg.local_load [[BUF]]
// CHECK-NEXT: ttg.local_dealloc [[BUF]]
// CHECK-NEXT: tt.return [[OUT]]
tt.func @result(%x: i32, %n: i32, %init: !t) -> !t {
  %r = scf.for %i = %x to %n step %x iter_args(%t = %init) -> (!t) : i32 {
    "a"() {ttg.partition = array<i32: 0>} : () -> ()
    %1 = "b"(%t) {ttg.partition = array<i32: 1>} : (!t) -> !t
    scf.yield {ttg.partition = array<i32: 1>} %1 : !t
  } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>], ttg.warp_specialize.tag = 0 : i32}
  tt.return %r : !t
}

// So does a number, as a tensor of one element.
// CHECK-LABEL: @number
// CHECK: [[BUF:%.*]] = ttg.local_alloc : () -> !ttg.memdesc<1xi32
// CHECK: partition1
// CHECK: [[R:%.*]] = scf.for
// CHECK: [[S:%.*]] = tt.splat [[R]]
// CHECK-NEXT: ttg.local_store [[S]], [[BUF]]
// CHECK: [[OUT:%.*]] = ttg.local_load [[BUF]]
// CHECK: [[N:%.*]] = tt.unsplat [[OUT]]
// CHECK-NEXT: tt.return [[N]]
tt.func @number(%x: i32, %n: i32) -> i32 {
  %r = scf.for %i = %x to %n step %x iter_args(%t = %x) -> (i32) : i32 {
    "a"() {ttg.partition = array<i32: 0>} : () -> ()
    %1 = "b"(%t) {ttg.partition = array<i32: 1>} : (i32) -> i32
    scf.yield {ttg.partition = array<i32: 1>} %1 : i32
  } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>], ttg.warp_specialize.tag = 0 : i32}
  tt.return %r : i32
}

// CHECK-LABEL: @branch
// CHECK: partition0
// CHECK: [[C:%.*]] = "c"
// CHECK-NEXT: scf.if [[C]] -> (i32) {
// CHECK-NEXT: "a"
// CHECK-NOT: "b"
// CHECK: partition1
// CHECK: scf.if
// CHECK-NEXT: "b"
// CHECK-NOT: "a"
// CHECK: nvws.warp_group.return
tt.func @branch(%x: i32, %n: i32) {
  scf.for %i = %x to %n step %x : i32 {
    %c = "c"() {ttg.partition = array<i32: 0, 1>} : () -> i1
    %r:2 = scf.if %c -> (i32, i32) {
      %0 = "a"() {ttg.partition = array<i32: 0>} : () -> i32
      %1 = "b"() {ttg.partition = array<i32: 1>} : () -> i32
      scf.yield {ttg.partition = array<i32: 0, 1>} %0, %1 : i32, i32
    } else {
      scf.yield {ttg.partition = array<i32: 0, 1>} %x, %n : i32, i32
    } {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 0>, array<i32: 1>]}
    "use_a"(%r#0) {ttg.partition = array<i32: 0>} : (i32) -> ()
    "use_b"(%r#1) {ttg.partition = array<i32: 1>} : (i32) -> ()
  } {ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32}
  tt.return
}

// CHECK-LABEL: @while
// CHECK: partition0
// CHECK-NEXT: scf.while ([[GO:%.*]] = %arg1)
// CHECK: "go"
// CHECK-NOT: "b"
// CHECK: partition1
// CHECK-NEXT: scf.while ([[S:%.*]] = %arg0, %{{.*}} = %arg1)
// CHECK: "go"
// CHECK-NEXT: "b"
// CHECK: nvws.warp_group.return
tt.func @while(%x: i32, %more: i1) {
  %r:2 = scf.while (%s = %x, %go = %more) : (i32, i1) -> (i32, i1) {
    scf.condition(%go) {ttg.partition = array<i32: 0, 1>} %s, %go : i32, i1
  } do {
  ^bb0(%s: i32, %go: i1):
    %next = "go"() {ttg.partition = array<i32: 0, 1>} : () -> i1
    %1 = "b"(%s) {ttg.partition = array<i32: 1>} : (i32) -> i32
    scf.yield {ttg.partition = array<i32: 0, 1>} %1, %next : i32, i1
  } attributes {ttg.partition = array<i32: 0, 1>, ttg.partition.outputs = [array<i32: 1>, array<i32: 0, 1>], ttg.warp_specialize.tag = 0 : i32}
  tt.return
}

// CHECK-LABEL: @phi
// CHECK: partition0
// CHECK: [[R:%.*]] = "remote"
// CHECK-NEXT: "use"([[R]])
// CHECK: partition1
// CHECK: [[L:%.*]] = "local"
// CHECK-NEXT: "use"([[L]])
tt.func @phi(%x: i32, %n: i32) {
  scf.for %i = %x to %n step %x : i32 {
    %l = "local"() {ttg.partition = array<i32: 1>} : () -> i32
    %r = "remote"() {ttg.partition = array<i32: 0>} : () -> i32
    %s = nvws.aref.phi %l, %r {ttg.partition = array<i32: 0, 1>} : i32
    "use"(%s) {ttg.partition = array<i32: 0, 1>} : (i32) -> ()
  } {ttg.partition = array<i32: 0, 1>, ttg.warp_specialize.tag = 0 : i32}
  tt.return
}
}
