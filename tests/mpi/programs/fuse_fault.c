#include "fuse_fault.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PROCESSES = 64 };

static struct {
  int armed;  ///< processes that have armed it
  int counter;
  StoreFault fault;
  char path[1024];
} store;
static struct {
  pid_t process;
  int armed;
  int met;
} processes[MOST_PROCESSES];

static int place_of_process(pid_t process, int adds) {
  for (int i = 0; i < MOST_PROCESSES; i++) {
    if (processes[i].process == process) return i;
    if (adds && !processes[i].process) {
      processes[i].process = process;
      return i;
    }
  }
  return -1;
}

static int arm(pid_t process, const StoreFault* fault, const char* path) {
  int place = place_of_process(process, 1);
  if (place < 0) return ENOSPC;
  if (store.armed == 0) {
    store.counter = 0;
    for (int i = 0; i < MOST_PROCESSES; i++) processes[i].met = 0;
  }
  store.armed += !processes[place].armed;
  store.fault = *fault;
  snprintf(store.path, sizeof store.path, "%s", path);
  processes[place].armed = 1;
  return 0;
}

int command_faults(const char* line) {
  int process, length;
  char path[1024];
  StoreFault fault = {0};
  if (sscanf(line, "disarm %d%n", &process, &length) == 1) {
    int place = place_of_process(process, 0);
    store.armed -= place >= 0 && processes[place].armed;
    if (place >= 0) processes[place].armed = 0;
    return 0;
  }
  int found = sscanf(line, "arm %d %d %d %d %d %ld %ld %d %ld %d %1023s", &process, &fault.call,
                     &fault.first, &fault.times, &fault.error, &fault.most, &fault.at, &fault.delay,
                     &fault.truncate, &fault.signal, path);
  return found == 11 ? arm(process, &fault, path) : EINVAL;
}

size_t report_faults(char* text, size_t room) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < MOST_PROCESSES && processes[i].process && used < room; i++) {
    used += (size_t)snprintf(text + used, room - used, "%d %d\n", processes[i].process,
                             processes[i].met);
  }
  return used < room ? used : room;
}

/// The kernel names the thread that calls.
static pid_t process_of(pid_t thread) {
  char path[64], line[256];
  int process = thread;
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  FILE* stream = fopen(path, "r");
  while (stream && fgets(line, sizeof line, stream)) {
    if (sscanf(line, "Tgid: %d", &process) == 1) break;
  }
  if (stream) fclose(stream);
  return process;
}

static int is_path_of(const Node* node) {
  char path[1024];
  snprintf(path, sizeof path, "/%s/%s", node->parent ? node->parent->name : "", node->name);
  return strcmp(path, store.path) == 0;
}

Fate meet_fault(int call, Node* node, pid_t thread, uint64_t offset, uint32_t size) {
  const StoreFault* fault = &store.fault;
  Fate fate = {0, size, 0};
  if (store.armed == 0 || call != fault->call || !is_path_of(node)) return fate;
  pid_t process = process_of(thread);
  int place = place_of_process(process, 0);
  if (place < 0 || !processes[place].armed) return fate;
  int is_place = fault->at >= 0;
  uint64_t at = (uint64_t)fault->at;
  if (is_place && (offset > at || at >= offset + size)) return fate;
  int number = store.counter++;
  if (number < fault->first) return fate;
  if (fault->times && number >= fault->first + fault->times) return fate;
  if (number == fault->first && fault->truncate >= 0 && node->size > (uint64_t)fault->truncate) {
    resize_node(node, (uint64_t)fault->truncate);
  }
  if (number == fault->first && fault->signal) kill(process, fault->signal);
  processes[place].met++;
  fate.error = fault->error;
  fate.delay = fault->delay;
  if (fault->most && (uint64_t)fault->most < size) fate.size = (uint32_t)fault->most;
  // As a disk with one bad block: what lies before it is moved.
  if (is_place && offset < at) {
    fate.error = 0;
    fate.size = (uint32_t)(at - offset);
  }
  return fate;
}
