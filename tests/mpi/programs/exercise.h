// The cases of the exerciser, by topic. Each list ends with a nameless entry.
#pragma once

#include "harness.h"

extern const Case open_cases[];
extern const Case position_cases[];
extern const Case view_cases[];
extern const Case transfer_cases[];
extern const Case error_cases[];
extern const Case order_cases[];
extern const Case unsupported_cases[];
