// A storage on which a new name for a file takes half a second. Preload it in front of the layer.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int link(const char* old, const char* name) {
  int (*next)(const char*, const char*) = dlsym(RTLD_NEXT, "link");
  usleep(500000);
  return next(old, name);
}
