// Stands behind the layer and tells what reaches it: values that are no machine words.
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

double MPI_Wtime(void) {
  return 1234.0625;
}

double MPI_Wtick(void) {
  return 0.015625;
}

// The second argument says what follows: i an int, p a pointer to one, f and d doubles.
int MPI_Pcontrol(const int level, ...) {
  va_list values;
  va_start(values, level);
  const char* const kinds = va_arg(values, const char*);
  char line[1000];
  int used = snprintf(line, sizeof line, "pcontrol %d", level);
  for (const char* kind = kinds; *kind; kind++) {
    char* const end = line + used;
    const size_t room = sizeof line - (size_t)used;
    if (*kind == 'i') used += snprintf(end, room, " %d", va_arg(values, int));
    if (*kind == 'p') used += snprintf(end, room, " *%d", *va_arg(values, int*));
    if (*kind == 'f' || *kind == 'd') used += snprintf(end, room, " %g", va_arg(values, double));
  }
  va_end(values);
  printf("%s\n", line);
  return MPI_SUCCESS;
}
