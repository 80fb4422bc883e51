// RUN: tile-opt %s -insert-replica-barriers | filecheck %s

#fours = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#all = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>

module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 64 : i32, ttg.target = "hip:gfx942"} {

// The offsets tell which threads have the elements of a buffer.
// CHECK-LABEL: @buffers
tt.func @buffers(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %i: tensor<1024xi32, #fours>, %j: tensor<1024xi32, #all>) {
  // CHECK-NEXT: amdg.buffer_load
  // CHECK-NEXT: amdg.buffer_store
  // CHECK-NEXT: ttg.barrier global_read|global_write
  // CHECK-NEXT: amdg.buffer_load
  // CHECK-NEXT: amdg.buffer_store
  // CHECK-NEXT: tt.return
  %0 = amdg.buffer_load %x[%i] : tensor<1024xi32, #fours>
  amdg.buffer_store %0, %y[%i] : tensor<1024xi32, #fours>
  %1 = amdg.buffer_load %x[%j] : tensor<1024xi32, #all>
  amdg.buffer_store %1, %y[%j] : tensor<1024xi32, #all>
  tt.return
}

}
