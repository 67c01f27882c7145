// Another user of the machine, while a file is open: looks into the ranks' descriptors and memory,
// opens what lies about under new names, and sends nonsense to each socket that listens since the
// file was opened. Needs root, to become that user.
//
//   second_user DIRECTORY
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum { nobody = 65534, most_numbers = 4096, most_ports = 16, most_names = 4096, idle = 20 };

/// Ports on which this process listens, up to most_ports of them.
static int listening_ports(int* ports) {
  int count = 0;
  for (int number = 0; number < most_numbers && count < most_ports; number++) {
    int listens = 0;
    socklen_t len = sizeof listens;
    struct sockaddr_in6 address = {0};
    socklen_t address_len = sizeof address;
    if (getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) != 0 || !listens) continue;
    if (getsockname(number, (struct sockaddr*)&address, &address_len) != 0) continue;
    if (address.sin6_family != AF_INET && address.sin6_family != AF_INET6) continue;
    ports[count++] = ntohs(address.sin6_port);  // in the same place as a sin_port
  }
  return count;
}

typedef struct {
  int count;
  char names[most_names][300];
} Names;

static void list(Names* names) {
  const char* folders[] = {"/dev/shm", "/tmp"};
  names->count = 0;
  for (int i = 0; i < 2; i++) {
    DIR* folder = opendir(folders[i]);
    for (struct dirent* entry; folder && (entry = readdir(folder)) != NULL;) {
      if (entry->d_name[0] == '.' || names->count == most_names) continue;
      snprintf(names->names[names->count++], sizeof names->names[0], "%s/%s", folders[i],
               entry->d_name);
    }
    if (folder) closedir(folder);
  }
}

static int has(const Names* names, const char* name) {
  for (int i = 0; i < names->count; i++) {
    if (strcmp(names->names[i], name) == 0) return 1;
  }
  return 0;
}

/// Whether a name is one of the layer's: the MPI libraries have names of their own.
static int is_of_layer(const char* name) {
  return strstr(name, "headrace") != NULL;
}

static int tell(const char* what, const char* which) {
  fprintf(stderr, "the other user %s %s\n", what, which);
  return 1;
}

/// What another user can reach of a process: descriptors and memory.
static int look_into(int process) {
  char path[300];
  int found = 0;
  snprintf(path, sizeof path, "/proc/%d/mem", process);
  if (open(path, O_RDWR) >= 0) found += tell("opened", path);
  for (int number = 0; number < 1024; number++) {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, number);
    if (open(path, O_RDONLY) >= 0) found += tell("opened", path);
  }
  return found;
}

static int connected(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int number = socket(AF_INET, SOCK_STREAM, 0);
  const struct timeval limit = {.tv_sec = 5};
  setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(number, (struct sockaddr*)&address, sizeof address) == 0) return number;
  close(number);
  return -1;
}

/// Nonsense of several kinds, each by a connection of its own, and connections that say nothing.
static void disturb(int port) {
  static unsigned char data[1 << 20];
  for (int kind = 0; kind < 4; kind++) {
    for (size_t i = 0; i < sizeof data; i++) {
      data[i] = (unsigned char)(kind == 0   ? 0
                                : kind == 1 ? 255
                                : kind == 2 ? rand()
                                            : "GET / "[i % 6]);
    }
    const int number = connected(port);
    if (number < 0) continue;
    if (send(number, data, sizeof data, MSG_NOSIGNAL) < 0 && errno == EBADF) abort();
    // An answer to a stranger holds nothing of the secret: it is a challenge, at most.
    static unsigned char answer[1 << 16];
    while (recv(number, answer, sizeof answer, 0) > 0) continue;
    close(number);
  }
  for (int i = 0; i < idle; i++) connected(port);  // they stay until this process ends
}

/// What the other user found; 0 for nothing.
static int attack(const int* processes, int count, const int* ports, int port_count,
                  const Names* names) {
  int found = 0;
  const int own = dup(STDERR_FILENO);  // inherited descriptors are no find
  for (int i = 3; i < most_numbers; i++) {
    if (i != own) close(i);
  }
  if (setgroups(0, NULL) != 0 || setgid(nobody) != 0 || setuid(nobody) != 0) return 100;
  for (int i = 0; i < count; i++) found += look_into(processes[i]);
  for (int i = 0; i < names->count; i++) {
    if (open(names->names[i], O_RDONLY) >= 0) found += tell("opened", names->names[i]);
  }
  for (int i = 0; i < port_count; i++) disturb(ports[i]);
  return found > 50 ? 50 : found;
}

/// Every rank's next values by the shared file pointer; the file then holds `round` times the size.
static void write_round(Context* context, MPI_File file, int round) {
  const int value = 1000 * round + context->rank;
  MPI_Offset found = -1;
  CHECK_OK(context, MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_get_size(file, &found));
  CHECK_EQUAL(context, found, 4ll * context->size * round);
  MPI_Barrier(context->comm);
}

static void second_user(Context* context) {
  static Names before, now, new_ones;
  int old_ports[most_ports], ports[most_ports], new_ports[most_ports], new_count = 0;
  const int old_count = listening_ports(old_ports);
  MPI_Barrier(context->comm);
  list(&before);
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  write_round(context, file, 1);
  list(&now);
  for (int i = 0; i < now.count; i++) {
    if (has(&before, now.names[i]) || !is_of_layer(now.names[i])) continue;
    memcpy(new_ones.names[new_ones.count++], now.names[i], sizeof now.names[0]);
  }
  const int count = listening_ports(ports);
  for (int i = 0; i < count; i++) {
    int is_old = 0;
    for (int k = 0; k < old_count; k++) is_old = is_old || ports[i] == old_ports[k];
    if (!is_old) new_ports[new_count++] = ports[i];
  }
  const int listens = context->rank == 0 && getenv("HEADRACE_SHARED_MEMORY") != NULL &&
                      strcmp(getenv("HEADRACE_SHARED_MEMORY"), "none") == 0;
  if (context->layered && listens) CHECK(context, new_count > 0);
  int* processes = malloc(sizeof *processes * (size_t)context->size);
  const int own = getpid();
  MPI_Allgather(&own, 1, MPI_INT, processes, 1, MPI_INT, context->comm);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) _exit(attack(processes, context->size, new_ports, new_count, &new_ones));
  // Calls go on beside it.
  for (int round = 2; round < 30; round++) write_round(context, file, round);
  int status = -1;
  CHECK_EQUAL(context, waitpid(child, &status, 0), child);
  CHECK_EQUAL(context, status, 0);
  MPI_Barrier(context->comm);
  write_round(context, file, 30);
  free(processes);
  close_file(context, &file);
}

int main(int argc, char** argv) {
  const Case cases[] = {{"second_user", second_user}};
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
