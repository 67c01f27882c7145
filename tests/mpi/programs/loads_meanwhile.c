/* loads_meanwhile OBJECT: a thread loads the object while MPI starts. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void* load(void* name) {
  return dlopen(name, RTLD_NOW);
}

int main(int argc, char** argv) {
  pthread_t other;
  void* object = NULL;
  int level;
  pthread_create(&other, NULL, &load, argv[1]);
  usleep(100000);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  pthread_join(other, &object);
  MPI_Finalize();
  printf("%s\n", object != NULL ? "loaded" : dlerror());
  return 0;
}
