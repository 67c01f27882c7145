// Files and directories in memory, for the file system of fuse_store.c. The caller holds its lock.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A file or a directory. Lives on after its name is gone, as long as the kernel knows it.
typedef struct Node {
  uint64_t id;  ///< the kernel's number for it: its place
  struct Node* parent;
  char name[256];  ///< empty once it was removed
  mode_t mode;
  uid_t uid;
  gid_t gid;
  char* data;
  uint64_t size;
  uint64_t room;
} Node;

enum { ROOT_ID = 1, MOST_NODES = 4096 };

void make_root(void);
/// Null where there is none.
Node* node_of(uint64_t id);
Node* find_child(const Node* parent, const char* name);
/// Null where there are too many.
Node* add_child(Node* parent, const char* name, mode_t mode);
int has_children(const Node* parent);
/// Takes the name away, and the data with the last use.
void remove_node(Node* node);
/// The kernel has let go of it.
void forget_node(uint64_t id);

/// Zeros where it grows. 0, or an errno.
int resize_node(Node* node, uint64_t size);
int write_node(Node* node, uint64_t offset, const char* data, size_t size);
/// Bytes that it has there.
size_t read_node(const Node* node, uint64_t offset, char* data, size_t size);
