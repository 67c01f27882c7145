#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded.h"

enum { kNames = 512, kPeers = 64, kBins = 7 };

struct entry {
  char name[64];
  long calls;
  int64_t bytes;
  long bins[kBins];
};

static struct entry entries[kNames];
static struct {
  long messages;
  int64_t bytes;
} peers[kPeers];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* By C's name: the large-count variant counts as the other. */
static struct entry* find(const char* name) {
  char plain[64];
  snprintf(plain, sizeof plain, "%s", name);
  size_t length = strlen(plain);
  if (length > 2 && strcmp(plain + length - 2, "_c") == 0) plain[length - 2] = 0;
  for (int i = 0; i < kNames; i++) {
    if (entries[i].name[0] == 0) strcpy(entries[i].name, plain);
    if (strcmp(entries[i].name, plain) == 0) return &entries[i];
  }
  abort();
}

static int bin(int64_t bytes) {
  if (bytes < 16) return 0;
  if (bytes < 256) return 1;
  if (bytes < 4096) return 2;
  if (bytes < 65536) return 3;
  if (bytes < 1048576) return 4;
  return bytes < 16777216 ? 5 : 6;
}

void tally_call(const char* name) {
  pthread_mutex_lock(&mutex);
  find(name)->calls++;
  pthread_mutex_unlock(&mutex);
}

void tally_arrival(const char* name, int64_t bytes) {
  pthread_mutex_lock(&mutex);
  struct entry* entry = find(name);
  entry->bytes += bytes;
  entry->bins[bin(bytes)]++;
  pthread_mutex_unlock(&mutex);
}

void tally_sent(const char* name, int64_t bytes) {
  tally_call(name);
  tally_arrival(name, bytes);
}

void tally_message(int to, int64_t bytes) {
  pthread_mutex_lock(&mutex);
  peers[to].messages++;
  peers[to].bytes += bytes;
  pthread_mutex_unlock(&mutex);
}

void tally_print(const char* path, int rank) {
  char name[4096];
  snprintf(name, sizeof name, "%s.tally.%d", path, rank);
  FILE* const file = fopen(name, "w");
  if (file == NULL) abort();
  for (int i = 0; i < kNames && entries[i].name[0] != 0; i++) {
    const struct entry* e = &entries[i];
    fprintf(file, "call %d %s %ld %lld", rank, e->name, e->calls, (long long)e->bytes);
    for (int b = 0; b < kBins; b++) fprintf(file, " %ld", e->bins[b]);
    fprintf(file, "\n");
  }
  for (int i = 0; i < kPeers; i++) {
    if (peers[i].messages == 0) continue;
    fprintf(file, "message %d %d %ld %lld\n", rank, i, peers[i].messages,
            (long long)peers[i].bytes);
  }
  fclose(file);
}

void must(int code, const char* name) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s returned %d\n", name, code);
  exit(1);
}
