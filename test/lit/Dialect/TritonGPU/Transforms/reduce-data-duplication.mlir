// RUN: tile-opt %s -tritongpu-reduce-data-duplication | filecheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#blockedT = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#rows = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>

// The swizzle depends on the width of a row and on which way K runs.

// CHECK-DAG: #[[K32:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-DAG: #[[N64:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: #[[KT:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>
// CHECK-DAG: #[[F8K:.*]] = #ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// CHECK-DAG: #[[F8N:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: #[[F32K:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// CHECK-DAG: #[[F32N:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>
// CHECK-DAG: #[[PLAIN:.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>

// CHECK-LABEL: @half
tt.func @half(%a: tensor<64x32xf16, #blocked>, %b: tensor<32x64xf16, #blocked>, %bt: tensor<32x64xf16, #blockedT>)
    -> (tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>) {
  // CHECK: %[[A:.*]] = ttg.local_alloc %arg0 : (tensor<64x32xf16, #blocked>) -> !ttg.memdesc<64x32xf16, #[[K32]], #smem>
  // CHECK: %[[AL:.*]] = ttg.local_load %[[A]] : {{.*}} -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  %0 = ttg.convert_layout %a : tensor<64x32xf16, #blocked> -> tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>
  // CHECK: ttg.local_alloc %arg1 : {{.*}} -> !ttg.memdesc<32x64xf16, #[[N64]], #smem>
  %1 = ttg.convert_layout %b : tensor<32x64xf16, #blocked> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  // CHECK: ttg.local_alloc %arg2 : {{.*}} -> !ttg.memdesc<32x64xf16, #[[KT]], #smem>
  %2 = ttg.convert_layout %bt : tensor<32x64xf16, #blockedT> -> tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  // CHECK-NOT: convert_layout
  // CHECK: tt.return %[[AL]]
  tt.return %0, %1, %2 : tensor<64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>, tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<32x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
}

// CHECK-LABEL: @other_widths
tt.func @other_widths(%f8: tensor<64x64xf8E5M2, #blocked>, %f32: tensor<64x64xf32, #blocked>) {
  // CHECK: !ttg.memdesc<64x64xf8E5M2, #[[F8K]], #smem>
  %0 = ttg.convert_layout %f8 : tensor<64x64xf8E5M2, #blocked> -> tensor<64x64xf8E5M2, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>>
  // CHECK: !ttg.memdesc<64x64xf8E5M2, #[[F8N]], #smem>
  %1 = ttg.convert_layout %f8 : tensor<64x64xf8E5M2, #blocked> -> tensor<64x64xf8E5M2, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>>
  // CHECK: !ttg.memdesc<64x64xf32, #[[F32K]], #smem>
  %2 = ttg.convert_layout %f32 : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>>
  // CHECK: !ttg.memdesc<64x64xf32, #[[F32N]], #smem>
  %3 = ttg.convert_layout %f32 : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>>
  // Threads of a blocked product read whole words.
  // CHECK: !ttg.memdesc<64x64xf32, #[[PLAIN]], #smem>
  %4 = ttg.convert_layout %f32 : tensor<64x64xf32, #blocked> -> tensor<64x64xf32, #ttg.dot_op<{opIdx = 1, parent = #blockedT}>>
  tt.return
}

// What stays in its thread stays in its registers.

// CHECK-LABEL: @registers
tt.func @registers(%m: tensor<64x64xf16, #rows>, %b: tensor<64x64xf16, #blocked>) {
  // CHECK-NEXT: ttg.convert_layout %arg0
  %0 = ttg.convert_layout %m : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #rows, kWidth = 2}>>
  // CHECK-NEXT: ttg.convert_layout %arg1
  %1 = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #mma>
  // CHECK-NEXT: tt.return
  tt.return
}

// What is summed up and multiplied goes to another layout once: a thread has the operand's elements among the sum's.

// CHECK-LABEL: @operand_and_sum
tt.func @operand_and_sum(%b: tensor<64x64xf16, #blocked>) {
  // CHECK-NEXT: %[[SUM:.*]] = ttg.convert_layout %arg0 : {{.*}} -> tensor<64x64xf16, #mma1>
  %0 = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #rows>
  // CHECK-NEXT: ttg.convert_layout %[[SUM]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1, kWidth = 2}>>
  %1 = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #rows, kWidth = 2}>>
  // CHECK-NEXT: ttg.local_alloc %arg0
  %2 = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #rows, kWidth = 2}>>
  tt.return
}

// Two products read one buffer, whichever of their operands it is.

// CHECK-LABEL: @two_products
tt.func @two_products(%b: tensor<64x64xf16, #blocked>) -> (tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #rows, kWidth = 2}>>) {
  // CHECK-NEXT: %[[BUFFER:.*]] = ttg.local_alloc %arg0
  // CHECK-NEXT: ttg.local_load %[[BUFFER]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma,
  %0 = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>
  // CHECK-NEXT: ttg.local_load %[[BUFFER]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #mma1,
  %1 = ttg.convert_layout %b : tensor<64x64xf16, #blocked> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #rows, kWidth = 2}>>
  tt.return %0, %1 : tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>>, tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #rows, kWidth = 2}>>
}

// Buffers that programs write are theirs.

// CHECK-LABEL: @written
tt.func @written(%b: tensor<64x64xf16, #blocked>) -> (!ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>, !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>) {
  // CHECK-COUNT-2: ttg.local_alloc %arg0
  %0 = ttg.local_alloc %b : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>
  %1 = ttg.local_alloc %b : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>
  tt.return %0, %1 : !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>, !ttg.memdesc<64x64xf16, #shared, #ttg.shared_memory, mutable>
}
