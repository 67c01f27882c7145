// A fault of the store, planted between the layer and the C library (store_fault.c), for one file
// or for memory.
#pragma once

/// The call that is to fail.
enum { STORE_READ, STORE_WRITE, STORE_SYNC, STORE_CLOSE, STORE_OPEN, STORE_SIZE, STORE_RESIZE };
enum { STORE_ALLOCATE = STORE_RESIZE + 1, STORE_DELETE };
/// No call of the store: memory that the layer asks for.
enum { STORE_MEMORY = STORE_DELETE + 1, STORE_CALLS };

/// What happens from the call numbered `first` (from 0, counted over all ranks) on, `times` times.
typedef struct {
  int call;
  int first;
  int times;         ///< 0: for ever
  int error;         ///< errno, and nothing is moved; 0: the call is made
  long most;         ///< a transfer moves so many bytes at most; 0: all
  long truncate;     ///< the file is cut to so many bytes before the call; -1: not
  int signal;        ///< sent to the rank that makes the call, before it; 0: none
  long at;           ///< only transfers that have this byte of the file; -1: all
  int delay;         ///< milliseconds before the reply
  int remove;        ///< 1: the file and its directory are removed before the call
  const char* poke;  ///< a file to write "1" to before the call, or null
} StoreFault;

/// `counter`: shared by all ranks, 0 before the first. Returns at once.
typedef void StoreFaultArm(const char* path, const StoreFault* fault, int* counter);
/// How many calls were met by the fault in this process since it was armed.
typedef int StoreFaultDisarm(void);
