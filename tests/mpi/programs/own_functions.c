/* Libraries of program_hooks.c: one has a function of its own that is called as one of the C
   library's, one has a word of its text relocated, and one is loaded while the program runs. */
#include <unistd.h>

#ifdef OWN_FUNCTION
int getline(char* into, int room) {
  if (room < 4) return -1;
  into[0] = 'o', into[1] = 'w', into[2] = 'n', into[3] = 0;
  return 3;
}
#endif

#ifdef TEXT_RELOCATION
__attribute__((section(".text.table"))) static ssize_t (*const table[])(int, const void*,
                                                                        size_t) = {write};

ssize_t write_by_text(int descriptor, const void* from, size_t bytes) {
  return (*(ssize_t(*const volatile*)(int, const void*, size_t)) & table[0])(descriptor, from,
                                                                             bytes);
}
#endif

#ifdef LOADED
ssize_t write_for_program(int descriptor, const void* from, size_t bytes) {
  return write(descriptor, from, bytes);
}
#endif
