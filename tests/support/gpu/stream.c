#include "stream.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "statistics.h"

struct Stream {
  Stream* next;
  void* context;
  int device;
  int ordered;
  int pending;
  int failure;
};

typedef struct Operation {
  struct Operation* next;
  Stream* stream;
  Copy copy;  ///< of addresses that the CPU reaches
  int fills;
  int value;
  int failure;
  int64_t due;
} Operation;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Stream default_stream = {.ordered = 1};
static Stream* streams;
static Stream* purged;
static int has_no_streams;
static Operation* first;  ///< oldest first, with the one that runs
static Operation** last = &first;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// GPU_DELAY_US: how long a copy waits before it begins.
static int64_t delay(void) {
  const char* text = getenv("GPU_DELAY_US");
  return text ? atoll(text) * 1000 : 0;
}

int is_own_process(void) {
  static pid_t own;
  pid_t none = 0;
  const pid_t here = getpid();
  return __atomic_compare_exchange_n(&own, &none, here, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
         none == here;
}

static int must_follow(const Operation* later, const Operation* earlier) {
  if (later->stream == earlier->stream) return 1;
  const int one_is_default = later->stream == &default_stream || earlier->stream == &default_stream;
  return one_is_default && later->stream->ordered && earlier->stream->ordered;
}

// The newest that may run now: nobody can rely on an order that is not promised. Else NULL, and
// when the next one may (0: when something changes).
static Operation* choose(int64_t* wake) {
  Operation* chosen = NULL;
  const int64_t time = now();
  *wake = 0;
  for (Operation* one = first; one; one = one->next) {
    int may_run = 1;
    for (const Operation* earlier = first; earlier != one && may_run; earlier = earlier->next) {
      may_run = !must_follow(one, earlier);
    }
    if (may_run && one->due <= time) chosen = one;
    if (may_run && one->due > time && (!*wake || one->due < *wake)) *wake = one->due;
  }
  return chosen;
}

static void carry_out(const Operation* one) {
  const Copy* copy = &one->copy;
  for (size_t row = 0; row < copy->rows; row++) {
    unsigned char* to = (unsigned char*)copy->to + row * copy->to_stride;
    if (one->fills) {
      memset(to, one->value, copy->width);
    } else {
      memmove(to, (const unsigned char*)copy->from + row * copy->from_stride, copy->width);
    }
  }
}

static void take_off(Operation* gone) {
  Operation** place = &first;
  while (*place != gone) place = &(*place)->next;
  *place = gone->next;
  if (last == &gone->next) last = place;
}

static void* work(void* unused) {
  (void)unused;
  pthread_mutex_lock(&mutex);
  for (;;) {
    int64_t wake;
    Operation* one = choose(&wake);
    if (one == NULL) {
      const struct timespec until = {wake / 1000000000, wake % 1000000000};
      if (wake) {
        pthread_cond_timedwait(&changed, &mutex, &until);
      } else {
        pthread_cond_wait(&changed, &mutex);
      }
      continue;
    }
    pthread_mutex_unlock(&mutex);
    if (!one->failure) carry_out(one);
    pthread_mutex_lock(&mutex);
    take_off(one);
    one->stream->pending--;
    if (one->failure) one->stream->failure = one->failure;
    free(one);
    pthread_cond_broadcast(&changed);
  }
  return NULL;
}

static void start_worker(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) abort();
  pthread_detach(thread);
}

static void submit(Operation operation) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start_worker);
  Operation* one = malloc(sizeof *one);
  *one = operation;
  one->next = NULL;
  one->due = now() + delay();
  pthread_mutex_lock(&mutex);
  one->stream->pending++;
  *last = one;
  last = &one->next;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

Stream* stream_create(void* context, int device, int ordered) {
  if (__atomic_load_n(&has_no_streams, __ATOMIC_RELAXED)) return NULL;
  pthread_mutex_lock(&mutex);
  Stream* stream = purged ? purged : malloc(sizeof *stream);
  if (purged) purged = purged->next;
  *stream = (Stream){.next = streams, .context = context, .device = device, .ordered = ordered};
  streams = stream;
  pthread_mutex_unlock(&mutex);
  count(STREAMS, 1);
  count(STREAMS_NOW, 1);
  return stream;
}

int stream_destroy(Stream* stream) {
  if (!stream_exists(stream)) return 0;
  stream_wait(stream);
  pthread_mutex_lock(&mutex);
  Stream** place = &streams;
  while (*place != stream) place = &(*place)->next;
  *place = stream->next;
  pthread_mutex_unlock(&mutex);
  free(stream);
  count(STREAMS_NOW, -1);
  return 1;
}

void streams_purge(void) {
  streams_wait();
  pthread_mutex_lock(&mutex);
  while (streams) {
    Stream* gone = streams;
    streams = gone->next;
    gone->next = purged;
    purged = gone;
    count(STREAMS_NOW, -1);
  }
  pthread_mutex_unlock(&mutex);
}

__attribute__((visibility("default"))) void stand_in_fail_streams(int fails) {
  __atomic_store_n(&has_no_streams, fails, __ATOMIC_RELAXED);
}

int stream_exists(const Stream* stream) {
  pthread_mutex_lock(&mutex);
  const Stream* one = streams;
  while (one && one != stream) one = one->next;
  pthread_mutex_unlock(&mutex);
  return one != NULL;
}

void* stream_context(const Stream* stream) {
  return stream->context;
}

int stream_device(const Stream* stream) {
  return stream->device;
}

// Until it is waited for, what will be copied to the host is not there.
static void spoil(const Stream* stream, const Copy* copy) {
  pthread_mutex_lock(&mutex);
  const int idle = stream->pending == 0;
  pthread_mutex_unlock(&mutex);
  Allocation one;
  if (!idle || (memory_find(copy->to, &one) && one.kind & (DEVICE | POOLED))) return;
  for (size_t row = 0; row < copy->rows; row++) {
    memset((unsigned char*)copy->to + row * copy->to_stride, 0xDB, copy->width);
  }
}

static size_t span_of(const Copy* copy, size_t stride) {
  return copy->rows == 0 ? 0 : (copy->rows - 1) * stride + copy->width;
}

static void fail_stream(Stream* stream, int failure) {
  pthread_mutex_lock(&mutex);
  stream->failure = failure;
  pthread_mutex_unlock(&mutex);
}

int stream_copy(Stream* stream, const Copy* copy, int invalid) {
  Stream* used = stream ? stream : &default_stream;
  int late = 0;
  const int failed_before = stream_query(used, 0);
  if (failed_before) return failed_before;
  const int failure = failure_of_copy(&late);
  Operation one = {.stream = used, .copy = *copy, .failure = failure};
  one.copy.to = memory_reach(copy->to, span_of(copy, copy->to_stride));
  one.copy.from = memory_reach(copy->from, span_of(copy, copy->from_stride));
  count(COPIES, 1);
  count(COPIED_BYTES, (long long)(copy->width * copy->rows));
  if (copy->rows > 1) count(RECTANGLES, 1);
  const int wrong = one.copy.to == NULL || one.copy.from == NULL ? invalid : late ? 0 : failure;
  if (wrong || failure) count(FAILURES, 1);
  if (wrong) {
    fail_stream(used, wrong);
    return wrong;
  }
  spoil(used, copy);
  submit(one);
  return 0;
}

int stream_query(Stream* stream, int not_ready) {
  Stream* used = stream ? stream : &default_stream;
  pthread_mutex_lock(&mutex);
  const int state = used->failure ? used->failure : used->pending ? not_ready : 0;
  pthread_mutex_unlock(&mutex);
  return state;
}

int stream_wait(Stream* stream) {
  Stream* used = stream ? stream : &default_stream;
  pthread_mutex_lock(&mutex);
  while (used->pending > 0) pthread_cond_wait(&changed, &mutex);
  const int failure = used->failure;
  pthread_mutex_unlock(&mutex);
  return failure;
}

void streams_wait(void) {
  pthread_mutex_lock(&mutex);
  while (first) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}

int copy_now(void* to, const void* from, size_t bytes, int invalid) {
  void* reached = memory_reach(to, bytes);
  const void* source = memory_reach(from, bytes);
  if (reached == NULL || source == NULL) return invalid;
  submit((Operation){.stream = &default_stream, .copy = {reached, source, bytes, 1, 0, 0}});
  stream_wait(NULL);
  return 0;
}

int fill_later(void* to, int value, size_t bytes, int invalid) {
  void* reached = memory_reach(to, bytes);
  if (reached == NULL) return invalid;
  submit((Operation){.stream = &default_stream,
                     .copy = {reached, NULL, bytes, 1, 0, 0},
                     .fills = 1,
                     .value = value});
  return 0;
}
