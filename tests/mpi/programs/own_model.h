// What a file of own_buffers.c must hold, and what is drawn.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { room = 1 << 20, most_calls_of_a_file = 400, largest = 9000 };

static char name[4096];
static unsigned char model[room], found[room];
static long long size;      // of the model
static long long position;  // of the descriptor
static int descriptor = -1;
static int reads, writes;  // whether it was opened for that
static long long wrong, call_number;
static unsigned long long state;

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(state >> 33) % below;
}

static void expect(int is_right, const char* what) {
  if (is_right) return;
  if (wrong++ < 5) printf("call %lld: %s (errno %d)\n", call_number, what, errno);
}

/// Now and then large.
static long long draw_bytes(void) {
  return draw(12) == 0 ? draw(largest) : draw(300);
}

static unsigned char* new_data(long long bytes) {
  static unsigned char data[largest];
  for (long long i = 0; i < bytes; ++i) data[i] = (unsigned char)(1 + draw(255));
  return data;
}

static void put(long long at, const unsigned char* data, long long bytes) {
  if (bytes > 0 && at > size) memset(model + size, 0, at - size);
  memcpy(model + at, data, bytes);
  if (bytes > 0 && at + bytes > size) size = at + bytes;
}
