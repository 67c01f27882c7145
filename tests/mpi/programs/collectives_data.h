/* What collective calls move: elements of one int each, in memory that is laid out in several ways.
 */
#ifndef HEADRACE_TEST_COLLECTIVES_DATA_H
#define HEADRACE_TEST_COLLECTIVES_DATA_H

#include "collectives.h"

enum kind { PLAIN, GAPPED, BYTES, KINDS };
extern MPI_Datatype types[KINDS];

/* What a rank receives in a call, and sends: that need not be the same. */
enum kind kind_of(int rank, const struct drawn* own);
enum kind send_kind(int rank, const struct drawn* own);

/* Element `i` of what a rank gives. */
int given(int rank, unsigned call, int i);
/* Memory for elements, all of it holes; with what this rank gives. */
int* make_buffer(size_t elements, enum kind kind);
int* make_given(const struct drawn* own, int rank, int count, enum kind kind);
void put(int* buffer, enum kind kind, size_t element, int value);
/* Bytes from one element to the next. */
size_t distance_of(enum kind kind);
int is_same(const int* found, const int* expected, size_t elements, enum kind kind,
            const char* what, const struct drawn* own);

#endif
