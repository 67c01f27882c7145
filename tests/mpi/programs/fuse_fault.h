// The fault of the file system of fuse_store.c. A program arms it by writing a line to the file
// `.faults` in its root, and reads there how often it was met: a line "PROCESS MET" for each.
//
//   arm PROCESS CALL FIRST TIMES ERROR MOST AT DELAY TRUNCATE SIGNAL PATH
//   disarm PROCESS
//
// The numbers are those of StoreFault (store_fault.h); PATH begins at the file system's root.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "fuse_tree.h"
#include "store_fault.h"

#define FAULTS_NAME ".faults"

/// What is to become of one request.
typedef struct {
  int error;      ///< 0: it is carried out
  uint32_t size;  ///< a transfer's, at most as asked for
  int delay;      ///< milliseconds before the reply
} Fate;

/// A line of the above. 0, or an errno.
int command_faults(const char* line);
/// What `.faults` holds; returns its length.
size_t report_faults(char* text, size_t room);

/// `thread`: who calls. What happens around the call happens here.
Fate meet_fault(int call, Node* node, pid_t thread, uint64_t offset, uint32_t size);
