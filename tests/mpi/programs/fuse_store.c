// A file system in memory that fails as it is told to (fuse_fault.h), mounted by the kernel's FUSE:
// what goes wrong there goes wrong in the kernel's own calls, for any program.
//
//   fuse_store MOUNTPOINT [cached]
//
// Needs root, and no library. Prints "ready" once it is mounted; ends when it is unmounted. By
// default every call on a file comes here as it is (direct I/O), so that short transfers are seen;
// `cached`: by way of the kernel's pages.
//
// libfuse3 would save the mount, the loop and the replies' heads, about 100 of some 600 lines;
// tree, faults and what each call means would stay, written as its callbacks. For that the tests
// would need a package more, and a reply that is late, cut or never sent would depend on its
// threads.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuse_fault.h"

enum { LARGEST = 1 << 20, BUFFER = LARGEST + 65536, THREADS = 8, NOT_FOR_US = -1 };

static int device;
static int is_cached;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/// One request and what is said to it.
typedef struct {
  const struct fuse_in_header* head;
  const char* body;  ///< behind the head
  Node* node;
  char* out;
  size_t out_size;
  int error;  ///< errno, or NOT_FOR_US where there is no reply
  int delay;
} Request;

static void* reply(Request* one, size_t size) {
  one->out_size = size;
  return memset(one->out, 0, size);
}

static void tell_attributes(const Node* node, struct fuse_attr* to) {
  to->ino = node->id;
  to->size = node->size;
  to->blocks = (node->size + 511) / 512;
  to->mode = node->mode;
  to->nlink = 1;
  to->uid = node->uid;
  to->gid = node->gid;
  to->blksize = 4096;
}

/// Nothing is valid for any time: the kernel asks again.
static struct fuse_entry_out* tell_entry(Request* one, const Node* node, size_t more) {
  struct fuse_entry_out* entry = reply(one, sizeof *entry + more);
  entry->nodeid = node->id;
  tell_attributes(node, &entry->attr);
  return entry;
}

static Fate meet(Request* one, int call, Node* node, uint64_t offset, uint32_t size) {
  Fate fate = meet_fault(call, node, (pid_t)one->head->pid, offset, size);
  one->error = fate.error;
  one->delay = fate.delay;
  return fate;
}

static int is_faults(const Node* node) {
  return node->parent && node->parent->id == ROOT_ID && strcmp(node->name, FAULTS_NAME) == 0;
}

static void look_up(Request* one) {
  Node* child = find_child(one->node, one->body);
  if (!child) {
    one->error = ENOENT;
    return;
  }
  tell_entry(one, child, 0);
}

static Node* make_node(Request* one, const char* name, mode_t mode) {
  Node* made = find_child(one->node, name) ? NULL : add_child(one->node, name, mode);
  if (!made) {
    one->error = find_child(one->node, name) ? EEXIST : ENOSPC;
    return NULL;
  }
  made->uid = one->head->uid;
  made->gid = one->head->gid;
  return made;
}

static void make_directory(Request* one) {
  const struct fuse_mkdir_in* in = (const void*)one->body;
  Node* made = make_node(one, one->body + sizeof *in, S_IFDIR | (in->mode & ~in->umask & 07777));
  if (made) tell_entry(one, made, 0);
}

static void tell_open(const Node* node, struct fuse_open_out* out) {
  if (!S_ISDIR(node->mode) && (!is_cached || is_faults(node))) out->open_flags = FOPEN_DIRECT_IO;
  // What programs map they must have in the kernel's pages.
  if (node->name[0] == '.' && !is_faults(node)) out->open_flags = 0;
}

static void create(Request* one) {
  const struct fuse_create_in* in = (const void*)one->body;
  Node* made = make_node(one, one->body + sizeof *in, S_IFREG | (in->mode & ~in->umask & 07777));
  if (!made) return;
  struct fuse_entry_out* entry = tell_entry(one, made, sizeof(struct fuse_open_out));
  tell_open(made, (struct fuse_open_out*)(entry + 1));
}

static void open_node(Request* one) {
  meet(one, STORE_OPEN, one->node, 0, 0);
  tell_open(one->node, reply(one, sizeof(struct fuse_open_out)));
}

static void get_attributes(Request* one) {
  meet(one, STORE_SIZE, one->node, 0, 0);
  tell_attributes(one->node,
                  &((struct fuse_attr_out*)reply(one, sizeof(struct fuse_attr_out)))->attr);
}

static void set_attributes(Request* one) {
  const struct fuse_setattr_in* in = (const void*)one->body;
  if (in->valid & FATTR_SIZE) meet(one, STORE_RESIZE, one->node, 0, 0);
  if (one->error) return;
  if (in->valid & FATTR_SIZE) one->error = resize_node(one->node, in->size);
  if (in->valid & FATTR_MODE) one->node->mode = (one->node->mode & S_IFMT) | (in->mode & 07777);
  if (in->valid & FATTR_UID) one->node->uid = in->uid;
  if (in->valid & FATTR_GID) one->node->gid = in->gid;
  tell_attributes(one->node,
                  &((struct fuse_attr_out*)reply(one, sizeof(struct fuse_attr_out)))->attr);
}

static void read_file(Request* one) {
  const struct fuse_read_in* in = (const void*)one->body;
  char text[4096];
  if (is_faults(one->node)) {
    size_t size = report_faults(text, sizeof text);
    size = in->offset < size ? size - in->offset : 0;
    memcpy(reply(one, size), text + in->offset, size);
    return;
  }
  Fate fate = meet(one, STORE_READ, one->node, in->offset, in->size);
  one->out_size = read_node(one->node, in->offset, one->out, fate.size);
}

static void write_file(Request* one) {
  const struct fuse_write_in* in = (const void*)one->body;
  const char* data = one->body + sizeof *in;
  uint32_t size = in->size;
  if (is_faults(one->node)) {
    char line[2048];
    snprintf(line, sizeof line, "%.*s", (int)size, data);
    one->error = command_faults(line);
  } else {
    size = meet(one, STORE_WRITE, one->node, in->offset, size).size;
    if (!one->error) one->error = write_node(one->node, in->offset, data, size);
  }
  ((struct fuse_write_out*)reply(one, sizeof(struct fuse_write_out)))->size = size;
}

static void allocate(Request* one) {
  const struct fuse_fallocate_in* in = (const void*)one->body;
  uint64_t end = in->offset + in->length;
  meet(one, STORE_ALLOCATE, one->node, 0, 0);
  if (in->mode != 0) one->error = EOPNOTSUPP;
  if (!one->error && end > one->node->size) one->error = resize_node(one->node, end);
}

static void unlink_child(Request* one, int is_directory) {
  Node* child = find_child(one->node, one->body);
  if (!child) {
    one->error = ENOENT;
  } else if (is_directory && has_children(child)) {
    one->error = ENOTEMPTY;
  } else {
    if (!is_directory) meet(one, STORE_DELETE, child, 0, 0);
    if (!one->error) remove_node(child);
  }
}

static void tell_file_system(Request* one) {
  struct fuse_statfs_out* out = reply(one, sizeof *out);
  out->st.blocks = out->st.bfree = out->st.bavail = 1 << 20;
  out->st.files = out->st.ffree = MOST_NODES;
  out->st.bsize = out->st.frsize = 4096;
  out->st.namelen = 255;
}

static void begin(Request* one) {
  const struct fuse_init_in* in = (const void*)one->body;
  struct fuse_init_out* out = reply(one, sizeof *out);
  out->major = FUSE_KERNEL_VERSION;
  out->minor = in->minor < FUSE_KERNEL_MINOR_VERSION ? in->minor : FUSE_KERNEL_MINOR_VERSION;
  out->max_readahead = in->max_readahead;
  out->flags =
      in->flags & (FUSE_BIG_WRITES | FUSE_MAX_PAGES | FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS);
  out->max_write = LARGEST;
  out->max_pages = LARGEST / 4096;
  out->time_gran = 1;
}

static void forget_many(const Request* one) {
  const struct fuse_batch_forget_in* in = (const void*)one->body;
  const struct fuse_forget_one* each = (const void*)(in + 1);
  for (uint32_t i = 0; i < in->count; i++) forget_node(each[i].nodeid);
}

static void carry_out(Request* one) {
  switch (one->head->opcode) {
    case FUSE_INIT: begin(one); break;
    case FUSE_LOOKUP: look_up(one); break;
    case FUSE_GETATTR: get_attributes(one); break;
    case FUSE_SETATTR: set_attributes(one); break;
    case FUSE_MKDIR: make_directory(one); break;
    case FUSE_CREATE: create(one); break;
    case FUSE_OPEN:
    case FUSE_OPENDIR: open_node(one); break;
    case FUSE_READ: read_file(one); break;
    case FUSE_WRITE: write_file(one); break;
    case FUSE_FSYNC: meet(one, STORE_SYNC, one->node, 0, 0); break;
    case FUSE_FLUSH: meet(one, STORE_CLOSE, one->node, 0, 0); break;
    case FUSE_FALLOCATE: allocate(one); break;
    case FUSE_UNLINK: unlink_child(one, 0); break;
    case FUSE_RMDIR: unlink_child(one, 1); break;
    case FUSE_STATFS: tell_file_system(one); break;
    case FUSE_READDIR:  // nothing of the tests lists it
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_ACCESS: break;
    case FUSE_FORGET:
      forget_node(one->head->nodeid);
      one->error = NOT_FOR_US;
      break;
    case FUSE_BATCH_FORGET:
      forget_many(one);
      one->error = NOT_FOR_US;
      break;
    case FUSE_INTERRUPT: one->error = NOT_FOR_US; break;  // its reply comes in any case
    default: one->error = ENOSYS;
  }
}

static void answer(const Request* one) {
  struct fuse_out_header head = {sizeof head, -one->error, one->head->unique};
  if (!one->error) head.len += (uint32_t)one->out_size;
  struct iovec parts[] = {{&head, sizeof head}, {one->out, head.len - sizeof head}};
  // ENOENT: whoever asked was killed.
  if (writev(device, parts, 2) < 0 && errno != ENOENT) perror("fuse_store: reply");
}

static void* serve(void* unused) {
  char* in = malloc(BUFFER);
  char* out = malloc(BUFFER);
  while (in && out) {
    ssize_t got = read(device, in, BUFFER);
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
    if (got < (ssize_t)sizeof(struct fuse_in_header)) break;  // unmounted
    Request one = {.head = (void*)in, .body = in + sizeof(struct fuse_in_header), .out = out};
    pthread_mutex_lock(&lock);
    one.node = node_of(one.head->nodeid);
    if (one.node || one.head->nodeid == 0) {
      carry_out(&one);
    } else {
      one.error = one.head->opcode == FUSE_FORGET ? NOT_FOR_US : ESTALE;
    }
    pthread_mutex_unlock(&lock);
    if (one.delay) usleep((useconds_t)one.delay * 1000);
    if (one.error != NOT_FOR_US) answer(&one);
  }
  free(in);
  free(out);
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: fuse_store MOUNTPOINT [cached]\n");
    return 2;
  }
  is_cached = argc > 2 && strcmp(argv[2], "cached") == 0;
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  char options[128];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
           device);
  if (device < 0 ||
      mount("headrace", argv[1], "fuse.headrace", MS_NOSUID | MS_NODEV, options) != 0) {
    printf("no FUSE: %s\n", strerror(errno));
    return 77;
  }
  make_root();
  puts("ready");
  fflush(stdout);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, serve, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return 0;
}
