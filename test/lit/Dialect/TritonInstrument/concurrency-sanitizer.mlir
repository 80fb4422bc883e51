// RUN: tile-opt %s -tritoninstrument-concurrency-sanitizer -split-input-file -verify-diagnostics | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  // A copy is issued and accesses its buffer; the read may collide with it.
  // CHECK-LABEL: @copy
  // CHECK: ttg.global_scratch_alloc
  // CHECK: tti.check "tile_consan_begin"{{.*}} everyThread
  // CHECK: ttg.barrier all
  // CHECK: tti.check "tile_consan_start"
  // CHECK: ttg.local_alloc
  // CHECK: tti.check "tile_consan_alloc"
  // CHECK: tti.check "tile_consan_issue"
  // CHECK: tti.check "tile_consan_access"
  // CHECK-NEXT: ttg.async_copy_global_to_local
  // CHECK: tti.check "tile_consan_commit"
  // CHECK: ttg.async_wait
  // CHECK: tti.check "tile_consan_wait"
  // CHECK: tti.check "tile_consan_access"{{.*}} messages [{{.*}}"async-race: read of a buffer races with an asynchronous write in line
  // CHECK-NEXT: ttg.local_load
  // CHECK: tti.check "tile_consan_exit"
  tt.func public @copy(%p: tensor<512x!tt.ptr<f32>, #blocked>) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<512xf32, #shared, #smem, mutable>
    %t = ttg.async_copy_global_to_local %p, %a : tensor<512x!tt.ptr<f32>, #blocked> -> <512xf32, #shared, #smem, mutable>
    %g = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %g {num = 0 : i32}
    %v = ttg.local_load %a token %w : !ttg.memdesc<512xf32, #shared, #smem, mutable> -> tensor<512xf32, #blocked>
    tt.store %p, %v : tensor<512x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // CHECK-LABEL: @nothing
  // CHECK-NOT: tti.check
  tt.func public @nothing() {
    tt.return
  }
}

// -----

// expected-error @+1 {{for programs of one block, and not for clusters}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 2 : i32, ttg.target = "cuda:90"} {
  tt.func public @cluster() {
    tt.return
  }
}
