#include "statistics.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* const names[STATISTIC_COUNT] = {
    "copies",      "copied_bytes", "rectangles",  "waits",          "queries", "streams",
    "streams_now", "pinned_now",   "pinned_most", "pinned_largest", "failures"};

static long long counts[STATISTIC_COUNT];
static long long copies_to_failure;
static int failure_code, failure_is_late;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void count(Statistic statistic, long long more) {
  __atomic_add_fetch(&counts[statistic], more, __ATOMIC_RELAXED);
}

void count_pinned(long long bytes) {
  pthread_mutex_lock(&mutex);
  counts[PINNED_NOW] += bytes;
  if (counts[PINNED_NOW] > counts[PINNED_MOST]) counts[PINNED_MOST] = counts[PINNED_NOW];
  if (bytes > counts[PINNED_LARGEST]) counts[PINNED_LARGEST] = bytes;
  pthread_mutex_unlock(&mutex);
}

__attribute__((visibility("default"))) long long stand_in_count(const char* name) {
  for (int i = 0; i < STATISTIC_COUNT; i++) {
    if (strcmp(names[i], name) == 0) return __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
  }
  return -1;
}

__attribute__((visibility("default"))) void stand_in_fail(long long nth, int code, int late) {
  pthread_mutex_lock(&mutex);
  copies_to_failure = nth;
  failure_code = code;
  failure_is_late = late;
  pthread_mutex_unlock(&mutex);
}

int failure_of_copy(int* late) {
  int code = 0;
  pthread_mutex_lock(&mutex);
  if (copies_to_failure > 0 && --copies_to_failure == 0) {
    code = failure_code;
    *late = failure_is_late;
  }
  pthread_mutex_unlock(&mutex);
  return code;
}

// One line of JSON for each process.
__attribute__((destructor)) static void write_log(void) {
  const char* path = getenv("GPU_LOG");
  if (path == NULL) return;
  char line[1000];
  int len = snprintf(line, sizeof line, "{\"process\": %d", (int)getpid());
  for (int i = 0; i < STATISTIC_COUNT; i++) {
    len += snprintf(line + len, sizeof line - (size_t)len, ", \"%s\": %lld", names[i], counts[i]);
  }
  len += snprintf(line + len, sizeof line - (size_t)len, "}\n");
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  if (write(file, line, (size_t)len) != len) fprintf(stderr, "cannot write %s\n", path);
  close(file);
}
