/* Procedures that MPI-3 removed, under names that no mpi.h refuses; null where the library has
 * none. */
#ifndef REMOVED_H
#define REMOVED_H

#include <mpi.h>
#include <stddef.h>

#define REMOVED(own, name) extern int own __asm__(#name) __attribute__((weak))

REMOVED(old_address(void*, MPI_Aint*), MPI_Address);
REMOVED(old_create_handler(MPI_Comm_errhandler_function*, MPI_Errhandler*), MPI_Errhandler_create);
REMOVED(old_get_handler(MPI_Comm, MPI_Errhandler*), MPI_Errhandler_get);
REMOVED(old_set_handler(MPI_Comm, MPI_Errhandler), MPI_Errhandler_set);
REMOVED(old_extent(MPI_Datatype, MPI_Aint*), MPI_Type_extent);
REMOVED(old_hindexed(int, int*, MPI_Aint*, MPI_Datatype, MPI_Datatype*), MPI_Type_hindexed);
REMOVED(old_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype*), MPI_Type_hvector);
REMOVED(old_lb(MPI_Datatype, MPI_Aint*), MPI_Type_lb);
REMOVED(old_struct(int, int*, MPI_Aint*, MPI_Datatype*, MPI_Datatype*), MPI_Type_struct);
REMOVED(old_ub(MPI_Datatype, MPI_Aint*), MPI_Type_ub);

/* By the old procedure if that is wanted and there. */
static inline void set_handler(MPI_Comm comm, MPI_Errhandler handler, int is_old) {
  if (is_old && old_set_handler != NULL) {
    old_set_handler(comm, handler);
  } else {
    MPI_Comm_set_errhandler(comm, handler);
  }
}

#endif
