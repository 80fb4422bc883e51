// RUN: tile-opt %s -split-input-file -verify-diagnostics

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @element_type(%bar: !ttg.memdesc<1xi32, #shared, #smem, mutable>) {
  // expected-error @+1 {{'ttnvgpu.init_barrier' op expected barrier to be a 1xi64 buffer in shared memory, found '!ttg.memdesc<1xi32,}}
  ttnvgpu.init_barrier %bar, 1 : !ttg.memdesc<1xi32, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @shape(%bar: !ttg.memdesc<2xi64, #shared, #smem, mutable>) {
  // expected-error @+1 {{expected barrier to be a 1xi64 buffer in shared memory, found '!ttg.memdesc<2xi64,}}
  ttnvgpu.inval_barrier %bar : !ttg.memdesc<2xi64, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @count(%bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>) {
  // expected-error @+1 {{attribute 'count' failed to satisfy constraint}}
  ttnvgpu.init_barrier %bar, 0 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @arrive_count(%bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>) {
  // expected-error @+1 {{attribute 'count' failed to satisfy constraint}}
  ttnvgpu.arrive_barrier %bar, 0 : !ttg.memdesc<1xi64, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @bytes(%bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %pred: i1) {
  // expected-error @+1 {{'ttnvgpu.barrier_expect' op expected at most 1048575 bytes in a phase, found 1048576}}
  ttnvgpu.barrier_expect %bar, 1048576, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
  tt.return
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @blocks(%bar: !ttg.memdesc<1xi64, #shared, #smem, mutable>, %pred: i1) {
    // expected-error @+1 {{'ttnvgpu.barrier_expect' op expected 'fromCTA' to be bits of a number of 2 blocks, found 2}}
    ttnvgpu.barrier_expect %bar, 8 {fromCTA = 2 : i32}, %pred : !ttg.memdesc<1xi64, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#pair = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @for_a_pair(%bar: !ttg.memdesc<1xi64, #pair, #smem, mutable>) {
    // expected-error @+1 {{expected a barrier for each of 2 blocks where 'fromCTA' says which arrive, found}}
    ttnvgpu.arrive_barrier %bar, 1 {fromCTA = 0 : i32} : !ttg.memdesc<1xi64, #pair, #smem, mutable>
    tt.return
  }
}

// -----

#each = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @too_many_bits(%bar: !ttg.memdesc<2xi64, #each, #smem, mutable>) {
    // expected-error @+1 {{expected 'multicastCTA' to be bits of a number of 2 blocks, found 2}}
    ttnvgpu.arrive_barrier %bar, 1 {multicastCTA = 2 : i32} : !ttg.memdesc<2xi64, #each, #smem, mutable>
    tt.return
  }
}

// -----

#each = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @some_for_all(%bar: !ttg.memdesc<2xi64, #each, #smem, mutable>) {
    // expected-error @+1 {{expected each block to arrive for itself where 'multicastCTA' says at whose barriers, found 'fromCTA'}}
    ttnvgpu.arrive_barrier %bar, 1 {fromCTA = 0 : i32, multicastCTA = 1 : i32} : !ttg.memdesc<2xi64, #each, #smem, mutable>
    tt.return
  }
}

// -----

#pair = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32} {
  tt.func @at_one_of_both(%bar: !ttg.memdesc<1xi64, #pair, #smem, mutable>) {
    // expected-error @+1 {{expected a barrier for each of 2 blocks where 'multicastCTA' says at whose barriers they arrive, found}}
    ttnvgpu.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !ttg.memdesc<1xi64, #pair, #smem, mutable>
    tt.return
  }
}

// -----

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
tt.func @copies(%bar: !ttg.memdesc<1xi32, #shared, #smem, mutable>) {
  // expected-error @+1 {{'ttnvgpu.async_copy_mbarrier_arrive' op expected barrier to be a 1xi64 buffer}}
  ttnvgpu.async_copy_mbarrier_arrive %bar : !ttg.memdesc<1xi32, #shared, #smem, mutable>
  tt.return
}

// -----

tt.func @not_a_buffer(%bar: tensor<1xi64>, %phase: i32) {
  // expected-error @+1 {{'ttnvgpu.arrive_barrier' op operand #0 must be}}
  "ttnvgpu.arrive_barrier"(%bar) <{count = 1 : i32}> : (tensor<1xi64>) -> ()
  tt.return
}

// -----

tt.func @fence() {
  // expected-error @+1 {{'ttnvgpu.fence_async_shared' op requires attribute 'bCluster'}}
  ttnvgpu.fence_async_shared
  tt.return
}
