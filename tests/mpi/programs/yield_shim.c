// Preloaded under MPICH, which spins while it waits and has no setting against it: a look for
// messages that finds none gives up the core, so that more ranks than cores get on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>

static int (*next_epoll_wait)(int, struct epoll_event*, int, int);
static int (*next_poll)(struct pollfd*, nfds_t, int);
static unsigned (*next_worker_progress)(void*);

__attribute__((constructor)) static void find_next(void) {
  next_epoll_wait = (int (*)(int, struct epoll_event*, int, int))dlsym(RTLD_NEXT, "epoll_wait");
  next_poll = (int (*)(struct pollfd*, nfds_t, int))dlsym(RTLD_NEXT, "poll");
}

// UCX. Looked up late, and in the library itself: under Python it is not among the global objects.
unsigned ucp_worker_progress(void* worker) {
  if (!next_worker_progress) {
    void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    next_worker_progress =
        (unsigned (*)(void*))dlsym(library ? library : RTLD_NEXT, "ucp_worker_progress");
  }
  unsigned found = next_worker_progress(worker);
  if (found == 0) sched_yield();
  return found;
}

int epoll_wait(int descriptor, struct epoll_event* events, int capacity, int timeout) {
  int found = next_epoll_wait(descriptor, events, capacity, timeout);
  if (found == 0 && timeout == 0) sched_yield();
  return found;
}

int poll(struct pollfd* descriptors, nfds_t count, int timeout) {
  int found = next_poll(descriptors, count, timeout);
  if (found == 0 && timeout == 0) sched_yield();
  return found;
}
