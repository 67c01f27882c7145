#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

unsigned char* read_whole(const char* path, size_t* bytes) {
  FILE* stream = fopen(path, "rb");
  if (!stream) return NULL;
  fseek(stream, 0, SEEK_END);
  *bytes = (size_t)ftell(stream);
  rewind(stream);
  unsigned char* memory = malloc(*bytes + 1);
  size_t got = fread(memory, 1, *bytes, stream);
  fclose(stream);
  if (got == *bytes) return memory;
  free(memory);
  return NULL;
}

void fill_file(Context* context, const char* name, size_t bytes, unsigned char value) {
  FILE* stream = fopen(path_of(context, name), "wb");
  unsigned char* memory = malloc(bytes + 1);
  memset(memory, value, bytes);
  if (!stream || fwrite(memory, 1, bytes, stream) != bytes || fclose(stream) != 0) {
    fail(context, __FILE__, __LINE__, "cannot fill %s", name);
  }
  free(memory);
}

unsigned char pattern(int rank, int64_t position) {
  uint64_t mixed = (uint64_t)(rank + 1) * 0x9E3779B97F4A7C15u ^ (uint64_t)position;
  mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9u;
  return (unsigned char)((mixed ^ (mixed >> 29)) >> 24);
}

void fill_pattern(unsigned char* memory, size_t bytes, int rank, int64_t first) {
  for (size_t i = 0; i < bytes; i++) memory[i] = pattern(rank, first + (int64_t)i);
}

// FNV-1a, 64 bits.
uint64_t checksum(const void* memory, size_t bytes) {
  const unsigned char* at = memory;
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i++) hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}
