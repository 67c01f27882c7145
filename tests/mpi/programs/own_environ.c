// Makes `environ` a variable of the program's own, for which libc does nothing. With OWN_ENVIRON
// the program defines it, as some do for want of a header. Else the linker copies it, and must not
// know that libc has other names for it.
#include <stddef.h>

#ifdef OWN_ENVIRON
char** environ;
#else
extern char** environ;
#endif

static char* empty[] = {NULL};

/// MPI libraries take for granted that there is a list.
__attribute__((constructor)) static void give_a_list(void) {
  if (environ == NULL) environ = empty;
}
