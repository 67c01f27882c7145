// Memory of a device that does not exist: the CPU cannot touch it at its address, and copies reach
// it through a second mapping. One implementation, three faces (cuda.c, hip.c, level_zero.c).
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Kinds of allocation, as bits.
enum {
  DEVICE = 1,      ///< the CPU cannot touch it
  POOLED = 2,      ///< as DEVICE, and of no context
  MANAGED = 4,     ///< moves between CPU and device by itself
  PINNED = 8,      ///< of the host, made by the driver
  REGISTERED = 16  ///< of the host, made by the program and told to the driver
};

typedef struct {
  int kind;
  unsigned char* begin;
  size_t bytes;
  unsigned char* reach;  ///< where the CPU finds it
  uint64_t id;           ///< never given to another allocation
  void* context;
  int device;
} Allocation;

/// NULL where there is no memory.
void* memory_allocate(int kind, size_t bytes, void* context, int device);
void memory_register(void* memory, size_t bytes, void* context, int device);
/// Frees what begins at `memory` and is of one of `kinds`. Returns 0 where there is none.
int memory_free(void* memory, int kinds);
/// Frees all but what is of one of `kinds`. Pinned memory's addresses are given again first.
void memory_purge(int kinds);
/// What `address` lies in. Returns 0 for memory that the driver does not know.
int memory_find(const void* address, Allocation* found);
/// Where the CPU finds `bytes` bytes at `address`; memory that the driver does not know is the
/// host's. NULL where a part lies beyond an allocation.
unsigned char* memory_reach(const void* address, size_t bytes);
