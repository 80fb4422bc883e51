//===-- RecordOptions.td - How kernels record --------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The options of the passes of all backends that lower records. Their names and
// values are those of the profiler's modes.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_CONVERSION_PROTONTOLLVM_RECORDOPTIONS_TD
#define TILE_CONVERSION_PROTONTOLLVM_RECORDOPTIONS_TD

include "mlir/Pass/PassBase.td"

defvar ProtonRecordOptions = [
  Option<"granularity", "granularity", "std::string", "\"warp\"",
         "Which warps record together, as the first of them: cta, warp, warp_2, "
         "warp_4, warp_8, warp_group, warp_group_2, warp_group_4, warp_group_8">,
  Option<"samplingStrategy", "sampling-strategy", "std::string", "\"none\"",
         "none: all of them record; selective: those that sampling-options names">,
  ListOption<"samplingOptions", "sampling-options", "unsigned",
             "The numbers of those that record">,
  Option<"bufferStrategy", "buffer-strategy", "std::string", "\"circular\"",
         "circular: the last records are kept; flush: the first">,
  Option<"bufferType", "buffer-type", "std::string", "\"shared\"",
         "Where records are written first: shared or global">,
  Option<"bufferSize", "buffer-size", "int64_t", "0",
         "Bytes that the records of a block have; 0 chooses">,
  ListOption<"optimizations", "optimizations", "std::string",
             "time_shift, sched_stores, sched_barriers, clock32">
];

#endif // TILE_CONVERSION_PROTONTOLLVM_RECORDOPTIONS_TD
