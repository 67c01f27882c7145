#pragma once

#include "abi/flavour/native.h"

/// The procedures that make a communicator with a topology. Where the program allows it, its ranks
/// get numbers such that neighbours share nodes. `next` is the function behind us, which is called
/// as the program called it wherever nothing is to gain; errors are the library's.
namespace headrace::HEADRACE_FLAVOUR::topology {

int Cart_create(decltype(&PMPI_Cart_create) next, MPI_Comm comm_old, int ndims, const int dims[],
                const int periods[], int reorder, MPI_Comm* comm_cart);

int Dist_graph_create(decltype(&PMPI_Dist_graph_create) next, MPI_Comm comm_old, int n,
                      const int sources[], const int degrees[], const int destinations[],
                      const int weights[], MPI_Info info, int reorder, MPI_Comm* comm_dist_graph);

int Dist_graph_create_adjacent(decltype(&PMPI_Dist_graph_create_adjacent) next, MPI_Comm comm_old,
                               int indegree, const int sources[], const int sourceweights[],
                               int outdegree, const int destinations[], const int destweights[],
                               MPI_Info info, int reorder, MPI_Comm* comm_dist_graph);

}  // namespace headrace::HEADRACE_FLAVOUR::topology
