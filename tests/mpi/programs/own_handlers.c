/* Handlers of signals that interrupt calls on files which may have buffers: a part of own_rough. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "own_rough.h"

enum { RECORD = 64, TURNS = 300 };

static void stop_here(int signal) {
  (void)signal;
  step_of_two = 1;
  while (step_of_two == 1) usleep(100);
  step_of_two = 0;
}

static void* write_for_ever(void* unused) {
  static char data[200000];
  for (int i = 0; step_of_two != 3; ++i) pwrite(descriptor, data, sizeof data, i % 4 * 200000L);
  return unused;
}

void stopped_thread(void) {
  pthread_t thread;
  struct stat status;
  descriptor = made("a", O_WRONLY);
  signal(SIGUSR1, &stop_here);
  pthread_create(&thread, NULL, &write_for_ever, NULL);
  for (int i = 0; i < 100; ++i) {
    usleep(137 * (i % 7));
    pthread_kill(thread, SIGUSR1);
    while (step_of_two != 1) usleep(10);
    need(stat("/etc/passwd", &status) == 0, "stat"); /* hangs if it waits for the thread */
    step_of_two = 2;
    while (step_of_two != 0) usleep(10);
  }
  step_of_two = 3;
  pthread_join(thread, NULL);
  printf("fine");
}

enum Turn { NEW_FILE, SAME_FILE, WRITE };
static enum Turn turn;
static volatile sig_atomic_t turns;

static const char* file_of_turn(int number) {
  static char name[32];
  sprintf(name, "%d", number);
  return name;
}

static void disturb(int signal) {
  (void)signal;
  const int kept = errno;
  turns = turns + 1;
  if (turn == WRITE) {
    char record[RECORD];
    memset(record, 'h', RECORD);
    if (write(descriptor, record, RECORD) != RECORD) abort();
  } else {
    close(descriptor);
    if (made(file_of_turn(turn == NEW_FILE ? turns : 0), O_WRONLY) != descriptor) abort();
  }
  errno = kept;
}

/* Signals for this thread alone: libraries have threads, too. */
static void disturb_this_thread(void) {
  const struct itimerspec time = {{0, 300000}, {0, 300000}};
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
  timer_t timer;
  event._sigev_un._tid = gettid();
  need(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
  need(timer_settime(timer, 0, &time, NULL) == 0, "timer_settime");
}

static void* write_disturbed(void* stack) {
  sigset_t alarms;
  char record[RECORD];
  memset(record, 'm', RECORD);
  if (stack != NULL) {
    const stack_t other = {.ss_sp = stack, .ss_size = 65536, .ss_flags = (int)(1U << 31)};
    need(sigaltstack(&other, NULL) == 0, "sigaltstack"); /* SS_AUTODISARM */
  }
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  disturb_this_thread();
  int wrote = 0;
  for (; turns < TURNS; ++wrote) {
    if (write(descriptor, record, RECORD) != RECORD) abort();
  }
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  close(descriptor);
  int found = 0, broken = 0;
  for (int number = 0; number <= (turn == NEW_FILE ? turns : 0); ++number) {
    FILE* file = fopen(file_of_turn(number), "r");
    while (fread(record, 1, RECORD, file) == RECORD) {
      int same = record[0] != 0;
      for (int i = 1; i < RECORD; ++i) same &= record[i] == record[0];
      found += same;
      broken += !same;
    }
    fclose(file);
  }
  const int expected = wrote + (turn == WRITE ? turns : 0);
  if (turn == SAME_FILE || found == expected) {
    printf("all there");
  } else {
    printf("%d records are missing after %d signals", expected - found, turns);
  }
  printf(", broken %d", broken);
  return NULL;
}

/* On another stack than the main thread's, which lies above that of a new thread. */
static void disturbed(enum Turn what, int uses_stack) {
  char above[65536];
  pthread_t thread;
  const struct sigaction action = {.sa_handler = &disturb,
                                   .sa_flags = SA_RESTART | (uses_stack ? SA_ONSTACK : 0)};
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, NULL);
  turn = what;
  descriptor = made("0", O_WRONLY);
  sigaction(SIGALRM, &action, NULL);
  pthread_create(&thread, NULL, &write_disturbed, uses_stack ? above : NULL);
  pthread_join(thread, NULL);
}

void reopened(void) {
  disturbed(NEW_FILE, 0);
}
void truncated(void) {
  disturbed(SAME_FILE, 0);
}
void other_stack(void) {
  disturbed(WRITE, 1);
}

/* A handler jumps out of close, at every seventh of its instructions; at which ones, each process
 * says. */

#if defined(__x86_64__)

static sigjmp_buf target;
static volatile long instructions_left;
static atomic_int asked, answered;

static void jump_at_last(int signal) {
  (void)signal;
  if (instructions_left > 0 && --instructions_left == 0) siglongjmp(target, 1);
}

static void step(int is_on) {
  const unsigned long long trap = 0x100, flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(is_on ? flags | trap : flags & ~trap);
}

static void* open_when_asked(void* unused) {
  for (;; answered = answered + 1) {
    while (asked == answered) usleep(20);
    const int own = made(answered % 2 ? "b" : "c", O_WRONLY);
    put(own, "x");
    close(own);
  }
  return unused;
}

void jumps(void) {
  pthread_t other;
  volatile long last = 1 + getpid() % 7;
  volatile int is_done = 0;
  close(-1); /* which finds the function */
  signal(SIGTRAP, &jump_at_last);
  pthread_create(&other, NULL, &open_when_asked, NULL);
  for (; !is_done; last += 7) {
    descriptor = made("a", O_WRONLY);
    put(descriptor, "x");
    instructions_left = last;
    if (sigsetjmp(target, 1) == 0) {
      step(1);
      close(descriptor);
      step(0);
      is_done = instructions_left > 0;
    }
    if (fcntl(descriptor, F_GETFD) >= 0) close(descriptor);
    ++asked;
    for (int i = 0; i < 60000 && asked != answered; ++i) usleep(1000);
    need(asked == answered, "another thread waits for ever");
  }
  printf("others go on");
}

#else

void jumps(void) {
  printf("others go on");
}

#endif
