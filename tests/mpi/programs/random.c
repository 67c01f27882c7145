// Random views, memory types, counts and methods through MPI's entry points, compared byte by byte
// with type maps (layout.h). All ranks draw the same numbers, so each knows what all the others do.
//
//   random SEED ROUNDS DIRECTORY
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "layout.h"

static uint64_t state;

// splitmix64
static uint64_t draw(void) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static int between(int low, int high) {
  return low + (int)(draw() % (uint64_t)(high - low + 1));
}

// Room for the type's bytes and perhaps more, from 0: instances in a row do not overlap.
static Layout with_room(Layout old) {
  int64_t end = layout_end(&old, 0, (int64_t)old.bytes);
  int64_t unit = 8 * between(0, 2);
  return layout_resized(old, 0, (end + 7) / 8 * 8 + unit);
}

// Ascending displacements in units of the old extent; in memory they may be shuffled.
static int blocks(int* lengths, int* displacements, int any_order) {
  int count = between(1, 5), next = between(0, 2);
  for (int i = 0; i < count; i++) {
    lengths[i] = between(i == 0, 3);
    displacements[i] = next;
    next += lengths[i] + between(0, 2);
  }
  for (int i = count - 1; any_order && i > 0; i--) {
    int j = between(0, i), length = lengths[i], displacement = displacements[i];
    lengths[i] = lengths[j];
    displacements[i] = displacements[j];
    lengths[j] = length;
    displacements[j] = displacement;
  }
  return count;
}

static Layout random_subarray(Layout old) {
  int sizes[3], subsizes[3], starts[3], dimensions = between(1, 3);
  for (int d = 0; d < dimensions; d++) {
    sizes[d] = between(2, 5);
    subsizes[d] = between(1, sizes[d]);
    starts[d] = between(0, sizes[d] - subsizes[d]);
  }
  return layout_subarray(dimensions, sizes, subsizes, starts,
                         between(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old);
}

static Layout random_darray(Layout old) {
  const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  int sizes[2], grid[2], kind[2], arguments[2];
  for (int d = 0; d < 2; d++) {
    grid[d] = between(1, 2);
    sizes[d] = grid[d] * between(1, 4);
    kind[d] = kinds[between(0, 1)];
    arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
  }
  int size = grid[0] * grid[1];
  return layout_darray(size, between(0, size - 1), 2, sizes, kind, arguments, grid,
                       between(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, old);
}

static Layout random_struct(Layout old) {
  Layout members[3];
  int lengths[3];
  int64_t displacements[3], next = 0;
  for (int i = 0; i < 3; i++) {
    members[i] = i == 1 ? layout_contiguous(between(1, 2), old) : old;
    lengths[i] = between(i == 0, 2);
    displacements[i] = next;
    next += lengths[i] * members[i].extent + 8 * between(0, 1);
  }
  return layout_struct(3, lengths, displacements, members);
}

static Layout one_level(Layout old, int any_order) {
  int lengths[8], displacements[8], count = blocks(lengths, displacements, any_order);
  int64_t far[8];
  for (int i = 0; i < count; i++) far[i] = displacements[i] * old.extent + 8 * displacements[i];
  int length = between(1, 3);
  switch (between(0, 9)) {
    case 0: return layout_contiguous(between(1, 4), old);
    case 1: return layout_vector(count, length, length + between(0, 2), old);
    case 2: return layout_hvector(count, length, (length + between(0, 2)) * old.extent, old);
    case 3: return layout_indexed(count, lengths, displacements, old);
    case 4: return layout_hindexed(count, lengths, far, old);
    case 5: return random_subarray(old);
    case 6: return random_darray(old);
    case 7: return random_struct(old);
    case 8: return layout_dup(old);
    default:
      for (int i = 0; i < count; i++) displacements[any_order ? count - 1 - i : i] = 4 * i;
      return layout_indexed_block(count, between(1, 3), displacements, old);
  }
}

static Layout random_type(Layout element, int any_order) {
  Layout layout = element;
  for (int depth = between(1, 3); depth > 0; depth--) {
    if (layout.bytes > 600) break;
    layout = with_room(one_level(layout, any_order));
  }
  return layout;
}

typedef struct {
  Layout element, filetype, memory;
  int64_t displacement;
  int count;         // elements of `memory`
  int64_t position;  // in the view's data, bytes
} Part;

// What all ranks do in one round: filetypes of different ranks are tiled beside one another.
static void draw_parts(Part* parts, int size) {
  const MPI_Datatype types[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  int kind = between(0, 3);
  int64_t room = 0, base = between(0, 40);
  for (int rank = 0; rank < size; rank++) {
    Part* part = &parts[rank];
    part->element = layout_basic(types[kind], (size_t)1 << kind);
    part->filetype = random_type(part->element, 0);
    if (part->filetype.extent > room) room = part->filetype.extent;
  }
  for (int rank = 0; rank < size; rank++) {
    Part* part = &parts[rank];
    part->displacement = base + rank * room;
    part->filetype = layout_resized(part->filetype, 0, size * room);
    part->memory = between(0, 2) ? random_type(part->element, 1) : part->element;
    int64_t instances = 1 + (int64_t)(3 * part->filetype.bytes / part->memory.bytes);
    part->count = between(0, 4) ? between(1, (int)(instances > 400 ? 400 : instances)) : 0;
    part->position = (int64_t)part->element.bytes *
                     between(0, (int)(part->filetype.bytes / part->element.bytes));
  }
}

static int64_t data_bytes(const Part* part) {
  return part->count * (int64_t)part->memory.bytes;
}

static void call(Context* context, const Part* part, MPI_File file, int writing, int method,
                 int large) {
  int64_t span = layout_end(&part->memory, 0, data_bytes(part)) + 8;
  unsigned char* memory = malloc((size_t)span);
  unsigned char* wanted = malloc((size_t)span);
  memset(memory, 0x3C, (size_t)span);
  memset(wanted, 0x3C, (size_t)span);
  for (int64_t i = 0; i < data_bytes(part); i++) {
    wanted[layout_place(&part->memory, 0, i)] = pattern(context->rank, part->position + i);
  }
  if (writing) memcpy(memory, wanted, (size_t)span);
  MPI_Offset offset = part->position / (int64_t)part->element.bytes;
  if (method == PLAIN || method == ALL) {
    CHECK_OK(context, MPI_File_seek(file, offset, MPI_SEEK_SET));
  }
  MPI_Status status;
  int got = -1;
  CHECK_OK(context, transfer(file, writing, method, large, offset, memory, part->count,
                             part->memory.type, &status));
  MPI_Get_elements(&status, MPI_BYTE, &got);
  CHECK_EQUAL(context, got, data_bytes(part));
  if (memcmp(memory, wanted, (size_t)span) != 0) {
    fail(context, __FILE__, __LINE__, "%s %s: memory differs", writing ? "write" : "read",
         method_name(method));
  }
  free(wanted);
  free(memory);
}

// Past the last byte that any rank writes, or `filled`.
static size_t end_of_file(const Part* parts, int size, size_t filled) {
  size_t bytes = filled;
  for (int rank = 0; rank < size; rank++) {
    const Part* part = &parts[rank];
    for (int64_t i = 0; i < data_bytes(part); i++) {
      size_t end =
          (size_t)layout_place(&part->filetype, part->displacement, part->position + i) + 1;
      if (end > bytes) bytes = end;
    }
  }
  return bytes;
}

static void compare_file(Context* context, const Part* parts, size_t filled) {
  size_t bytes = end_of_file(parts, context->size, filled), got = 0;
  unsigned char* image = calloc(bytes + 1, 1);
  memset(image, 0xEE, filled);
  for (int rank = 0; rank < context->size; rank++) {
    const Part* part = &parts[rank];
    for (int64_t i = part->position; i < part->position + data_bytes(part); i++) {
      image[layout_place(&part->filetype, part->displacement, i)] = pattern(rank, i);
    }
  }
  unsigned char* content = read_whole(path_of(context, "data"), &got);
  CHECK_EQUAL(context, got, bytes);
  for (size_t i = 0; content && i < bytes && i < got; i++) {
    if (content[i] == image[i]) continue;
    fail(context, __FILE__, __LINE__, "byte %zu of the file is %02x, must be %02x", i, content[i],
         image[i]);
    break;
  }
  free(content);
  free(image);
}

static int one_round(Context* context, uint64_t seed) {
  state = seed;
  Part* parts = calloc((size_t)context->size, sizeof *parts);
  draw_parts(parts, context->size);
  Part* mine = &parts[context->rank];
  int write_method = between(0, 3), read_method = between(0, 3);
  int large = between(0, 1);
  size_t filled = (size_t)between(0, 3000);
  // The libraries leave anything in holes past the old end; the engine leaves zeros.
  if (!context->layered) filled = end_of_file(parts, context->size, filled);
  context->failures = 0;
  context->log_used = 0;
  if (context->rank == 0) fill_file(context, "data", filled, 0xEE);
  MPI_Barrier(context->comm);
  MPI_File file = open_file(context, context->comm, "data", MPI_MODE_RDWR);
  CHECK_OK(context, MPI_File_set_view(file, mine->displacement, mine->element.type,
                                      mine->filetype.type, "native", MPI_INFO_NULL));
  call(context, mine, file, 1, write_method, large);
  CHECK_OK(context, MPI_File_sync(file));
  MPI_Barrier(context->comm);
  CHECK_OK(context, MPI_File_sync(file));
  call(context, mine, file, 0, read_method, !large);
  close_file(context, &file);
  MPI_Barrier(context->comm);
  if (context->rank == 0) compare_file(context, parts, filled);
  free(parts);
  layouts_release();
  int failures = 0;
  MPI_Allreduce(&context->failures, &failures, 1, MPI_INT, MPI_SUM, context->comm);
  if (context->failures) {
    printf("seed %llu, %s then %s, %d ranks:\n%s", (unsigned long long)seed,
           method_name(write_method), method_name(read_method), context->size, context->log);
    fflush(stdout);
  }
  return failures != 0;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: random SEED ROUNDS DIRECTORY\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  Context context = {.comm = MPI_COMM_WORLD, .directory = argv[3], .case_name = "random"};
  const char* expect = getenv("MPI_TEST_EXPECT");
  context.layered = expect && strcmp(expect, "engine") == 0;
  context.log = calloc(1 << 16, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &context.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &context.size);
  int failed = 0, rounds = atoi(argv[2]);
  for (int i = 0; i < rounds; i++) {
    failed += one_round(&context, strtoull(argv[1], NULL, 10) + (uint64_t)i);
  }
  if (context.rank == 0) printf("%d of %d rounds failed\n", failed, rounds);
  free(context.log);
  MPI_Finalize();
  return failed != 0;
}
