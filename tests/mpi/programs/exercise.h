// The cases of the exerciser, by topic. Each list ends with a nameless entry.
#pragma once

#include "harness.h"

extern const Case argument_cases[];
extern const Case atomic_cases[];
extern const Case completion_cases[];
extern const Case datarep_cases[];
extern const Case datarep_type_cases[];
extern const Case datarep_user_cases[];
extern const Case edge_cases[];
extern const Case error_cases[];
extern const Case handle_cases[];
extern const Case many_cases[];
extern const Case mode_cases[];
extern const Case nonblocking_cases[];
extern const Case open_cases[];
extern const Case order_cases[];
extern const Case position_cases[];
extern const Case shared_cases[];
extern const Case size_cases[];
extern const Case split_cases[];
extern const Case thread_cases[];
extern const Case transfer_cases[];
extern const Case view_cases[];
