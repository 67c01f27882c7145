// Where ranks see different numbers of cores, as C libraries tell that count by CPU set. Linked in
// by --wrap.

#include "sim/cores.h"

#define HEADRACE_NODE_CORES "_ZN8headrace4topo10node_coresEv"

namespace headrace::sim {
namespace {

thread_local int seen_cores = 0;  // 0: as many as there are

}  // namespace

void see_cores(int cores) {
  seen_cores = cores;
}

int real_node_cores() asm("__real_" HEADRACE_NODE_CORES);
int seen_node_cores() asm("__wrap_" HEADRACE_NODE_CORES);
int seen_node_cores() {
  return seen_cores > 0 ? seen_cores : real_node_cores();
}

}  // namespace headrace::sim
