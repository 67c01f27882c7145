// Preloaded in place of store_fault.c where the files are on the file system of fuse_store.c: the
// fault is armed there. The root is named by FUSE_STORE.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_fault.h"

static int open_faults(void) {
  char path[1100];
  snprintf(path, sizeof path, "%s/.faults", getenv("FUSE_STORE"));
  int faults = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (faults < 0) perror(path);
  return faults;
}

static void command(int faults, const char* line) {
  if (pwrite(faults, line, strlen(line), 0) < 0) perror("fuse_client");
}

void store_fault_arm(const char* path, const StoreFault* fault, int* counter) {
  char line[2048];
  (void)counter;  // the file system counts
  const char* inside = path + strlen(getenv("FUSE_STORE"));
  snprintf(line, sizeof line, "arm %d %d %d %d %d %ld %ld %d %ld %d %s\n", getpid(), fault->call,
           fault->first, fault->times, fault->error, fault->most, fault->at, fault->delay,
           fault->truncate, fault->signal, inside);
  int faults = open_faults();
  command(faults, line);
  close(faults);
}

int store_fault_disarm(void) {
  char text[4097] = "", line[64];
  int met = 0, faults = open_faults();
  snprintf(line, sizeof line, "disarm %d\n", getpid());
  command(faults, line);
  if (pread(faults, text, sizeof text - 1, 0) < 0) perror("fuse_client");
  close(faults);
  for (const char* at = text; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
    int process, count;
    if (sscanf(at, "%d %d", &process, &count) == 2 && process == getpid()) met = count;
  }
  return met;
}
