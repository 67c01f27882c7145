/* Ranks send each other what a file says, and check each byte that they receive:
 * exchanged FILE STEPS. A line of FILE is a message of each step: sender, receiver, bytes.
 * Prints where each rank is, what it has sent and received, and a sum of what it received. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { most_messages = 64 };

struct message {
  int from, to, length;
  unsigned char* bytes;
};

static unsigned char value(int from, int to, int step, int place) {
  return (unsigned char)(from * 131 + to * 31 + step * 7 + place * 13 + (place >> 8));
}

/* Those of the file that `rank` sends or receives. */
static int read_messages(const char* path, int rank, struct message* own) {
  FILE* file = fopen(path, "r");
  if (!file) MPI_Abort(MPI_COMM_WORLD, 2);
  int count = 0;
  struct message one;
  while (fscanf(file, "%d %d %d", &one.from, &one.to, &one.length) == 3) {
    if (one.from != rank && one.to != rank) continue;
    if (count == most_messages) MPI_Abort(MPI_COMM_WORLD, 3);
    one.bytes = malloc((size_t)one.length);
    own[count++] = one;
  }
  fclose(file);
  return count;
}

static void exchange(struct message* own, int count, int rank, int step) {
  MPI_Request requests[most_messages];
  for (int one = 0; one < count; ++one) {
    struct message* message = &own[one];
    if (message->to == rank) {
      MPI_Irecv(message->bytes, message->length, MPI_BYTE, message->from, step, MPI_COMM_WORLD,
                &requests[one]);
    } else {
      MPI_Isend(message->bytes, message->length, MPI_BYTE, message->to, step, MPI_COMM_WORLD,
                &requests[one]);
    }
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 1);
  struct message own[most_messages];
  const int count = read_messages(argv[1], rank, own), steps = atoi(argv[2]);
  long long sent = 0, received = 0;
  unsigned long long sum = 0;
  double seconds = 0, longest = 0;
  for (int step = 0; step < steps; ++step) {
    for (int one = 0; one < count; ++one) {
      struct message* message = &own[one];
      for (int place = 0; place < message->length; ++place) {
        message->bytes[place] =
            message->from == rank ? value(rank, message->to, step, place) : (unsigned char)0;
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    exchange(own, count, rank, step);
    seconds += MPI_Wtime() - begin;
    for (int one = 0; one < count; ++one) {
      struct message* message = &own[one];
      *(message->from == rank ? &sent : &received) += message->length;
      if (message->from == rank) continue;
      for (int place = 0; place < message->length; ++place) {
        if (message->bytes[place] != value(message->from, rank, step, place)) {
          printf("rank %d has a wrong byte %d from %d\n", rank, place, message->from);
          MPI_Abort(MPI_COMM_WORLD, 4);
        }
        sum = sum * 1099511628211ULL + message->bytes[place];
      }
    }
  }
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  char line[256]; /* by one write, so that lines of several ranks do not mix */
  snprintf(line, sizeof line, "rank %d on %s sent %lld received %lld sum %016llx\n", rank, host,
           sent, received, sum);
  fputs(line, stdout);
  if (rank == 0) printf("seconds %.6f\n", longest);
  MPI_Finalize();
  return 0;
}
