/* A tally of what a program does with MPI, kept by the program itself: tests/mpi/test_recorder.py
 * compares it with the record. */
#ifndef RECORDED_H
#define RECORDED_H

#include <mpi.h>
#include <stdint.h>

/* A call that moves no bytes. */
void tally_call(const char* name);
/* A call of `name` whose send arguments hold `bytes`. */
void tally_sent(const char* name, int64_t bytes);
/* A call of `name` that starts or makes a receive; tally_arrival follows for each message. */
void tally_arrival(const char* name, int64_t bytes);
/* A point-to-point message to a rank of MPI_COMM_WORLD. */
void tally_message(int to, int64_t bytes);
/* Writes to PATH.tally.RANK: "call RANK NAME CALLS BYTES BIN0..BIN6" and "message FROM TO MESSAGES
 * BYTES". */
void tally_print(const char* path, int rank);

#define CALL(name, ...) (tally_call(#name), must(name(__VA_ARGS__), #name))
#define SEND(name, bytes, ...) (tally_sent(#name, bytes), must(name(__VA_ARGS__), #name))

void must(int code, const char* name);

#endif
