// Loads a program as interpreters load their modules, by names of its own, and runs its main. Knows
// no MPI itself.
//
//   loads OBJECT ARGUMENT...
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* object = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(int, char**) = object ? (int (*)(int, char**))dlsym(object, "main") : NULL;
  if (!run) {
    fprintf(stderr, "loads: %s\n", argc > 1 ? dlerror() : "no object is named");
    return 2;
  }
  return run(argc - 1, argv + 1);
}
