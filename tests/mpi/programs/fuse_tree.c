#include "fuse_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Node* nodes[MOST_NODES];

static Node* make(uint64_t id, Node* parent, const char* name, mode_t mode) {
  Node* node = calloc(1, sizeof *node);
  if (!node) return NULL;
  node->id = id;
  node->parent = parent;
  node->mode = mode;
  node->uid = getuid();
  node->gid = getgid();
  snprintf(node->name, sizeof node->name, "%s", name);
  nodes[id] = node;
  return node;
}

void make_root(void) {
  if (!make(ROOT_ID, NULL, "/", S_IFDIR | 0777)) abort();
}

Node* node_of(uint64_t id) {
  return id < MOST_NODES ? nodes[id] : NULL;
}

static int is_child(const Node* node, const Node* parent) {
  return node && node->parent == parent && node->name[0];
}

Node* find_child(const Node* parent, const char* name) {
  for (uint64_t id = ROOT_ID + 1; id < MOST_NODES; id++) {
    if (is_child(nodes[id], parent) && strcmp(nodes[id]->name, name) == 0) return nodes[id];
  }
  return NULL;
}

Node* add_child(Node* parent, const char* name, mode_t mode) {
  for (uint64_t id = ROOT_ID + 1; id < MOST_NODES; id++) {
    if (!nodes[id]) return make(id, parent, name, mode);
  }
  return NULL;
}

int has_children(const Node* parent) {
  for (uint64_t id = ROOT_ID + 1; id < MOST_NODES; id++) {
    if (is_child(nodes[id], parent)) return 1;
  }
  return 0;
}

void remove_node(Node* node) {
  node->name[0] = 0;
}

void forget_node(uint64_t id) {
  Node* node = node_of(id);
  if (!node || node->name[0] || id == ROOT_ID) return;
  nodes[id] = NULL;
  free(node->data);
  free(node);
}

int resize_node(Node* node, uint64_t size) {
  if (size > node->room) {
    char* data = realloc(node->data, size);
    if (!data) return ENOSPC;
    node->data = data;
    node->room = size;
  }
  if (size > node->size) memset(node->data + node->size, 0, size - node->size);
  node->size = size;
  return 0;
}

int write_node(Node* node, uint64_t offset, const char* data, size_t size) {
  int error = offset + size > node->size ? resize_node(node, offset + size) : 0;
  if (!error) memcpy(node->data + offset, data, size);
  return error;
}

size_t read_node(const Node* node, uint64_t offset, char* data, size_t size) {
  if (offset >= node->size) return 0;
  if (size > node->size - offset) size = node->size - offset;
  memcpy(data, node->data + offset, size);
  return size;
}
