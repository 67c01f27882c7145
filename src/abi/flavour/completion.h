#pragma once

#include "abi/flavour/native.h"

/// The procedures that complete requests, ours and others'. `next` is the next function of the
/// chain, which completes requests. If some of the requests are ours, we first tell the library
/// which of them are done. Errors of our requests are raised afterwards, through their files.
namespace headrace::HEADRACE_FLAVOUR::completion {

int Wait(decltype(&PMPI_Wait) next, MPI_Request* request, MPI_Status* status);
int Waitany(decltype(&PMPI_Waitany) next, int count, MPI_Request* requests, int* index,
            MPI_Status* status);
int Waitall(decltype(&PMPI_Waitall) next, int count, MPI_Request* requests, MPI_Status* statuses);
int Waitsome(decltype(&PMPI_Waitsome) next, int count, MPI_Request* requests, int* done_count,
             int* indices, MPI_Status* statuses);

int Test(decltype(&PMPI_Test) next, MPI_Request* request, int* flag, MPI_Status* status);
int Testany(decltype(&PMPI_Testany) next, int count, MPI_Request* requests, int* index, int* flag,
            MPI_Status* status);
int Testall(decltype(&PMPI_Testall) next, int count, MPI_Request* requests, int* flag,
            MPI_Status* statuses);
int Testsome(decltype(&PMPI_Testsome) next, int count, MPI_Request* requests, int* done_count,
             int* indices, MPI_Status* statuses);

int Request_free(decltype(&PMPI_Request_free) next, MPI_Request* request);

int Request_get_status(decltype(&PMPI_Request_get_status) next, MPI_Request request, int* flag,
                       MPI_Status* status);
int Request_get_status_any(decltype(&PMPI_Request_get_status_any) next, int count,
                           const MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int Request_get_status_all(decltype(&PMPI_Request_get_status_all) next, int count,
                           const MPI_Request* requests, int* flag, MPI_Status* statuses);
int Request_get_status_some(decltype(&PMPI_Request_get_status_some) next, int count,
                            const MPI_Request* requests, int* done_count, int* indices,
                            MPI_Status* statuses);

}  // namespace headrace::HEADRACE_FLAVOUR::completion
