// Several threads of a rank on one file handle: nothing is lost, whatever they call.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

enum { workers = 4, each = 25, block = 700 };

typedef struct {
  Context* context;
  MPI_File file;
  int number, wrong;
} Worker;

static void run_workers(Context* context, MPI_File file, void* (*work)(void*)) {
  pthread_t threads[workers];
  Worker worker[workers];
  for (int i = 0; i < workers; i++) {
    worker[i] = (Worker){context, file, i, 0};
    pthread_create(&threads[i], NULL, work, &worker[i]);
  }
  for (int i = 0; i < workers; i++) {
    pthread_join(threads[i], NULL);
    CHECK_EQUAL(context, worker[i].wrong, 0);
  }
}

static int without_threads(Context* context) {
  if (context->thread_level >= MPI_THREAD_MULTIPLE) return 0;
  note(context, "no MPI_THREAD_MULTIPLE");
  return 1;
}

static int count_is(const MPI_Status* status, int wanted) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  return count == wanted;
}

// Blocking and nonblocking calls at offsets of their own, completed by every means.
static void* at_offsets(void* argument) {
  Worker* worker = argument;
  int rank = worker->context->rank;
  unsigned char out[each][block], in[each][block];
  MPI_Request requests[each];
  MPI_Status statuses[each];
  MPI_Offset first = ((MPI_Offset)rank * workers + worker->number) * each * block;
  for (int i = 0; i < each; i++) {
    fill_pattern(out[i], block, rank, first + i * block);
    requests[i] = MPI_REQUEST_NULL;
    int code = i % 3 ? MPI_File_iwrite_at(worker->file, first + i * block, out[i], block, MPI_BYTE,
                                          &requests[i])
                     : MPI_File_write_at(worker->file, first + i * block, out[i], block, MPI_BYTE,
                                         &statuses[i]);
    worker->wrong += code != MPI_SUCCESS;
  }
  if (worker->number % 2) {
    worker->wrong += MPI_Waitall(each, requests, statuses) != MPI_SUCCESS;
  } else {
    for (int i = 0; i < each; i++) {
      int flag = 0, code = MPI_SUCCESS;
      if (requests[i] == MPI_REQUEST_NULL) continue;
      while (!flag && code == MPI_SUCCESS) code = MPI_Test(&requests[i], &flag, &statuses[i]);
      worker->wrong += code != MPI_SUCCESS || !count_is(&statuses[i], block);
    }
  }
  for (int i = each - 1; i >= 0; i--) {
    worker->wrong += MPI_File_iread_at(worker->file, first + i * block, in[i], block, MPI_BYTE,
                                       &requests[i]) != MPI_SUCCESS;
  }
  for (int left = each, index; left > 0; left--) {
    MPI_Status status;
    if (MPI_Waitany(each, requests, &index, &status) != MPI_SUCCESS || index < 0) break;
    worker->wrong += !count_is(&status, block);
  }
  worker->wrong += memcmp(out, in, sizeof in) != 0;
  return NULL;
}

static void offsets(Context* context) {
  if (without_threads(context)) return;
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  run_workers(context, file, at_offsets);
  close_file(context, &file);
}

// Through the rank's one individual pointer: each call gets a place of its own.
static void* by_pointer(void* argument) {
  Worker* worker = argument;
  for (int i = 0; i < each; i++) {
    unsigned char memory[block];
    MPI_Status status;
    memset(memory, 1 + worker->number * each + i, block);
    int method = (worker->number + i) % 2 ? PLAIN : PLAIN | NONBLOCKING;
    worker->wrong +=
        transfer(worker->file, 1, method, 0, 0, memory, block, MPI_BYTE, &status) != MPI_SUCCESS;
    worker->wrong += !count_is(&status, block);
  }
  return NULL;
}

static void pointer(Context* context) {
  if (without_threads(context)) return;
  char name[32];
  snprintf(name, sizeof name, "data%d", context->rank);
  MPI_File file = open_file(context, MPI_COMM_SELF, name,
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  if (context->rank == 0) {  // one rank is enough
    int counts[workers * each + 1] = {0};
    unsigned char memory[block];
    run_workers(context, file, by_pointer);
    for (int i = 0; i < workers * each; i++) {
      MPI_Status status;
      CHECK_OK(context, MPI_File_read_at(file, i * block, memory, block, MPI_BYTE, &status));
      CHECK(context, count_is(&status, block));
      for (int k = 1; k < block; k++) {
        if (memory[k] == memory[0]) continue;
        fail(context, __FILE__, __LINE__, "block %d has bytes of two calls", i);
        break;
      }
      counts[memory[0] <= workers * each ? memory[0] : 0]++;
    }
    for (int i = 1; i <= workers * each; i++) CHECK_EQUAL(context, counts[i], 1);
  }
  close_file(context, &file);
}

// One thread's collective calls beside other threads' independent ones, all on one handle.
static void* collective_beside(void* argument) {
  Worker* worker = argument;
  if (worker->number > 0) return at_offsets(argument);
  int rank = worker->context->rank, size = worker->context->size;
  MPI_Offset base = (MPI_Offset)size * workers * each * block;
  for (int i = 0; i < each; i++) {
    unsigned char out[block], in[block];
    MPI_Status status;
    MPI_Offset offset = base + ((MPI_Offset)i * size + rank) * block;
    fill_pattern(out, block, rank, offset);
    worker->wrong += transfer(worker->file, 1, i % 2 ? AT_ALL : AT_ALL | NONBLOCKING, 0, offset,
                              out, block, MPI_BYTE, &status) != MPI_SUCCESS;
    worker->wrong += !count_is(&status, block);
    worker->wrong += transfer(worker->file, 0, i % 3 ? AT_ALL : AT_ALL | SPLIT, 0, offset, in,
                              block, MPI_BYTE, &status) != MPI_SUCCESS;
    worker->wrong += memcmp(out, in, block) != 0;
  }
  return NULL;
}

static void collective(Context* context) {
  if (without_threads(context)) return;
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_CREATE | MPI_MODE_RDWR);
  run_workers(context, file, collective_beside);
  close_file(context, &file);
}

const Case thread_cases[] = {{"threads_offsets", offsets},
                             {"threads_pointer", pointer},
                             {"threads_collective", collective},
                             {NULL, NULL}};
