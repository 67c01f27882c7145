// Writes a rank's part of a file through a view by four calls, reads it back by four others, and
// compares the whole file with what the type maps of all ranks say.
#include "view_check.h"

#include <stdlib.h>
#include <string.h>

enum { tiles = 3, parts = 4 };

View interleave(Layout etype, Layout filetype, int rank, int size) {
  int64_t extent = filetype.extent;
  return (View){etype, layout_resized(filetype, 0, extent * size), 24 + rank * extent};
}

// The part of the rank's data that call number `part` moves, in etypes: [*first, return value).
static int64_t part_of(int64_t etypes, int part, int rank, int64_t* first) {
  int64_t ends[parts + 1] = {0, etypes / 4 + rank % 2, etypes / 2, etypes * 3 / 4 - rank % 3,
                             etypes};
  for (int i = 1; i <= parts; i++) {
    if (ends[i] < ends[i - 1]) ends[i] = ends[i - 1];
    if (ends[i] > etypes) ends[i] = etypes;
  }
  *first = ends[part];
  return ends[part + 1];
}

// Moves the rank's data by the four methods; every second call has holes in memory.
static void move_parts(Context* context, MPI_File file, const View* view, int writing) {
  const Layout* etype = &view->etype;
  Layout holed = layout_resized(*etype, 0, 2 * etype->extent);
  int64_t etypes = tiles * (int64_t)(view->filetype.bytes / etype->bytes);
  const int order[parts] = {ALL, AT, AT_ALL, PLAIN};
  for (int part = 0; part < parts; part++) {
    int64_t first;
    int64_t count = part_of(etypes, part, context->rank, &first) - first;
    int64_t bytes = count * (int64_t)etype->bytes;
    const Layout* layout = part % 2 ? &holed : etype;
    size_t span = (size_t)(count * layout->extent) + 1;
    unsigned char* memory = malloc(span);
    unsigned char* wanted = malloc(span);
    memset(memory, 0x5A, span);
    memset(wanted, 0x5A, span);
    for (int64_t i = 0; i < bytes; i++) {
      wanted[layout_place(layout, 0, i)] =
          pattern(context->rank, first * (int64_t)etype->bytes + i);
    }
    if (writing) memcpy(memory, wanted, span);
    if (order[part] == PLAIN) CHECK_OK(context, MPI_File_seek(file, first, MPI_SEEK_SET));
    // The libraries' own read-modify-write does not stand another rank's call beside it.
    if (!context->layered) MPI_Barrier(context->comm);
    MPI_Status status;
    CHECK_OK(context, transfer(file, writing, order[part], part % 2, first, memory, (int)count,
                               layout->type, &status));
    int got = -1;
    MPI_Get_count(&status, layout->type, &got);
    CHECK_EQUAL(context, got, count);
    if (memcmp(memory, wanted, span) != 0) {
      fail(context, __FILE__, __LINE__, "%s by %s: memory differs", writing ? "write" : "read",
           method_name(order[part]));
    }
    if (part == 0 || part == 3) {
      MPI_Offset position;
      CHECK_OK(context, MPI_File_get_position(file, &position));
      CHECK_EQUAL(context, position, first + count);
    }
    free(wanted);
    free(memory);
  }
}

static int64_t end_of(const View* view) {
  return layout_end(&view->filetype, view->displacement, tiles * (int64_t)view->filetype.bytes);
}

static size_t end_of_all(Context* context, View (*build)(int, int)) {
  int64_t end = 0;
  for (int rank = 0; rank < context->size; rank++) {
    View view = build(rank, context->size);
    if (end_of(&view) > end) end = end_of(&view);
  }
  return (size_t)end;
}

// Rank 0: the file is what the type maps of all ranks say.
static void check_image(Context* context, View (*build)(int, int), size_t filled) {
  size_t bytes = end_of_all(context, build);
  unsigned char* image = calloc(bytes, 1);
  memset(image, 0xEE, filled);
  for (int rank = 0; rank < context->size; rank++) {
    View view = build(rank, context->size);
    for (int64_t i = 0; i < tiles * (int64_t)view.filetype.bytes; i++) {
      image[layout_place(&view.filetype, view.displacement, i)] = pattern(rank, i);
    }
  }
  size_t got = 0;
  unsigned char* content = read_whole(path_of(context, "data"), &got);
  CHECK_EQUAL(context, got, bytes);
  size_t wrong = 0, first_wrong = 0;
  for (size_t i = 0; content && i < bytes && i < got; i++) {
    if (content[i] != image[i] && wrong++ == 0) first_wrong = i;
  }
  if (wrong) {
    fail(context, __FILE__, __LINE__, "%zu bytes of the file are wrong, the first at %zu", wrong,
         first_wrong);
  }
  if (filled == bytes)
    note(context, "%zu bytes, checksum %016llx", got,
         content ? (unsigned long long)checksum(content, got) : 0ull);
  free(content);
  free(image);
}

void run_view_filled(Context* context, View (*build)(int, int), double filled_part) {
  View view = build(context->rank, context->size);
  size_t filled = (size_t)((double)end_of_all(context, build) * filled_part);
  if (context->rank == 0) fill_file(context, "data", filled, 0xEE);
  MPI_Barrier(context->comm);
  for (int writing = 1; writing >= 0; writing--) {
    MPI_File file =
        open_file(context, context->comm, "data", writing ? MPI_MODE_RDWR : MPI_MODE_RDONLY);
    CHECK_OK(context, MPI_File_set_view(file, view.displacement, view.etype.type,
                                        view.filetype.type, "native", MPI_INFO_NULL));
    move_parts(context, file, &view, writing);
    close_file(context, &file);
    MPI_Barrier(context->comm);
    if (writing && context->rank == 0) check_image(context, build, filled);
  }
  layouts_release();
}

void run_view(Context* context, View (*build)(int, int)) {
  run_view_filled(context, build, 1);
}
