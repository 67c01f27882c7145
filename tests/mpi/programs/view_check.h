// Views by their type maps, and a check of everything that happens through one.
#pragma once

#include "harness.h"
#include "layout.h"

typedef struct {
  Layout etype;
  Layout filetype;
  int64_t displacement;
} View;

/// Makes room between the tiles of one rank's filetype for those of the other ranks.
View interleave(Layout etype, Layout filetype, int rank, int size);

/// Each rank writes and reads through `build(rank, size)`. The file is filled first, all of it or,
/// with `filled_part` below 1, a part: then it grows and keeps holes.
void run_view(Context* context, View (*build)(int rank, int size));
void run_view_filled(Context* context, View (*build)(int rank, int size), double filled_part);
