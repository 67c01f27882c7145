#pragma once

#include "fuzz/program.h"
#include "steps/type_map.h"
