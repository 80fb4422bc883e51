// RUN: tile-opt %s -verify-diagnostics -tritongpu-pipeline=num-stages=3

// expected-error @below {{expected option 'num-stages' on tritongpu-assign-latencies, which decides about stages, found it on tritongpu-pipeline}}
module {
}
