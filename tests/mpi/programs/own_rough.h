/* What own_rough.c and own_handlers.c have in common. */
#ifndef OWN_ROUGH_H
#define OWN_ROUGH_H

#include <stdatomic.h>

extern int descriptor;
extern atomic_int step_of_two; /* of two threads that wait for each other */

void need(int is_so, const char* what); /* ends the program if not */
int made(const char* name, int flags);  /* a new file's descriptor */
void put(int to, const char* text);

/* Ways of own_handlers.c. */
void stopped_thread(void);
void reopened(void);
void truncated(void);
void other_stack(void);
void jumps(void);

#endif
