! graph_placed.c in Fortran, for each binding: graph_placed adjacent|general|unweighted reorder
program graph_placed
#if defined(BINDING_MPI_F08)
  use mpi_f08
#elif defined(BINDING_MPI)
  use mpi
#endif
  implicit none
#if !defined(BINDING_MPI_F08) && !defined(BINDING_MPI)
  include 'mpif.h'
#endif
#if defined(BINDING_MPI_F08)
  type(MPI_Comm) :: graph
#else
  integer :: graph
#endif
  integer :: rank, ranks, place, after, before, vertex, in, out, received, others, known, length
  integer :: error
  integer :: sources(1), targets(1), one(1), in_weights(1), out_weights(1)
  integer :: from(1), to(1), from_weights(1), to_weights(1), vertices(1), answers(1)
  logical :: reorder, weighted
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_PROCESSOR_NAME), allocatable :: hosts(:)
  character(len=16) :: kind, text
  call get_command_argument(1, kind)
  call get_command_argument(2, text)
  reorder = text == '1'
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  place = 0
  do while (scrambled(place) /= rank)
    place = place + 1
  end do
  after = scrambled(mod(place + 1, ranks))
  before = scrambled(mod(place + ranks - 1, ranks))
  sources = before
  targets = after
  in_weights = 100 + before
  out_weights = 100 + rank
  select case (trim(kind))
  case ('adjacent')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, in_weights, 1, targets, &
                                        out_weights, MPI_INFO_NULL, reorder, graph, error)
  case ('unweighted')
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, reorder, graph, error)
  case default ! each tells another's edge
    one = 1
    targets = rank
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, sources, one, targets, in_weights, &
                               MPI_INFO_NULL, reorder, graph, error)
  end select
  call MPI_Get_processor_name(host, length, error)
  host(length + 1:) = ' '
  allocate (hosts(0:ranks - 1))
  call MPI_Allgather(host, len(host), MPI_CHARACTER, hosts, len(host), MPI_CHARACTER, graph, error)
  call MPI_Comm_rank(graph, vertex, error)
  call MPI_Dist_graph_neighbors_count(graph, in, out, weighted, error)
  from_weights = 0
  to_weights = 0
  if (weighted) then
    call MPI_Dist_graph_neighbors(graph, in, from, from_weights, out, to, to_weights, error)
  else
    call MPI_Dist_graph_neighbors(graph, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED, error)
  end if
  vertices = vertex
  answers = -1
  call MPI_Neighbor_alltoall(vertices, 1, MPI_INTEGER, answers, 1, MPI_INTEGER, graph, error)
  received = answers(1)
  others = merge(1, 0, hosts(to(1)) /= host)
  known = merge(1, 0, weighted)
  print '(11(a,i0))', 'vertex ', vertex, ' in ', in, ' ', from(1), ' ', from_weights(1), &
    ' out ', out, ' ', to(1), ' ', to_weights(1), ' weighted ', known, ' received ', received, &
    ' others ', others
  ! As end_at_once.h has it.
  call get_environment_variable('ENDS_AT_ONCE', text)
  if (text == '1') then
    flush (6)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call sleep(1)
    call MPI_Abort(MPI_COMM_WORLD, 0, error)
  end if
  call MPI_Comm_free(graph, error)
  call MPI_Finalize(error)
contains
  integer function scrambled(at)
    integer, intent(in) :: at
    scrambled = mod(at * 3 + 1, ranks)
  end function scrambled
end program graph_placed
