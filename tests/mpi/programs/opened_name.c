// The name that a program gives at open means the file that was opened, whatever becomes of the
// name and of the working directory. Run with the layer: plain libraries delete what the name leads
// to when the file is closed, most of them what it leads to from there. Links are the same with
// all.
//
//   opened_name [--only CASE,...] DIRECTORY
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

static void put(const char* path, const char* text) {
  FILE* stream = fopen(path, "w");
  if (!stream || fputs(text, stream) < 0 || fclose(stream) != 0) perror(path);
}

/// What lies there: its text, "" where there is nothing.
static const char* text_at(const char* path) {
  static char text[100];
  FILE* stream = fopen(path, "r");
  size_t got = stream ? fread(text, 1, sizeof text - 1, stream) : 0;
  text[got] = 0;
  if (stream) fclose(stream);
  return text;
}

static int is_there(const char* path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

/// All ranks go to a directory of the case's own, with two more in it: "work" and "other".
static void enter(Context* context) {
  const char* top = path_of(context, "top");
  if (context->rank == 0) {
    mkdir(top, 0755);
    for (int i = 0; i < 2; i++) {
      char name[2000];
      snprintf(name, sizeof name, "%s/%s", top, i ? "other" : "work");
      mkdir(name, 0755);
    }
  }
  MPI_Barrier(context->comm);
  CHECK_EQUAL(context, chdir(top), 0);
}

static MPI_File open_temporary(Context* context, const char* name) {
  MPI_File file = MPI_FILE_NULL;
  int code =
      MPI_File_open(context->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                    MPI_INFO_NULL, &file);
  CHECK_OK(context, code);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  CHECK_EQUAL(context, carried(file), context->layered);
  MPI_Barrier(context->comm);
  return file;
}

/// After the first rank has changed something. All ranks get one answer.
static void close_after(Context* context, MPI_File* file, int expected_class) {
  MPI_Barrier(context->comm);
  CHECK_CLASS(context, MPI_File_close(file), expected_class);
  MPI_Barrier(context->comm);
}

// Every kind of call after chdir: data, pointers, views, sizes, syncs, and what is in the way.
static void used_after_chdir(Context* context) {
  enter(context);
  if (context->rank == 0) {
    put("work/file", "");
    put("other/file", "of another");
  }
  MPI_Barrier(context->comm);
  CHECK_EQUAL(context, chdir("work"), 0);
  MPI_File file = open_temporary(context, "file");
  // The ranks part: nobody may use the name for the others either.
  CHECK_EQUAL(context, chdir(context->rank % 2 ? "/" : "../other"), 0);
  char mine[8], back[8] = "";
  MPI_Offset size = 0;
  MPI_Status status;
  snprintf(mine, sizeof mine, "rank %02d", context->rank % 100);
  CHECK_OK(context, MPI_File_write_ordered(file, mine, 7, MPI_CHAR, &status));
  CHECK_OK(context, MPI_File_sync(file));
  CHECK_OK(context, MPI_File_set_atomicity(file, 1));
  CHECK_OK(context, MPI_File_read_at_all(file, 7 * context->rank, back, 7, MPI_CHAR, &status));
  CHECK_OK(context, MPI_File_set_atomicity(file, 0));
  CHECK(context, memcmp(back, mine, 7) == 0);
  MPI_Datatype type;
  MPI_Type_vector(7, 1, context->size, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  CHECK_OK(context,
           MPI_File_set_view(file, context->rank, MPI_CHAR, type, "native", MPI_INFO_NULL));
  MPI_Type_free(&type);
  CHECK_OK(context, MPI_File_write_at_all(file, 0, mine, 7, MPI_CHAR, &status));
  CHECK_OK(context, MPI_File_preallocate(file, 7 * context->size));
  CHECK_OK(context, MPI_File_get_size(file, &size));
  CHECK_EQUAL(context, size, 7 * context->size);
  memset(back, 0, sizeof back);
  CHECK_OK(context, MPI_File_read_at_all(file, 0, back, 7, MPI_CHAR, &status));
  CHECK(context, memcmp(back, mine, 7) == 0);
  close_after(context, &file, MPI_SUCCESS);
  CHECK_EQUAL(context, chdir(path_of(context, "top")), 0);
  CHECK(context, !is_there("work/file"));
  CHECK(context, strcmp(text_at("other/file"), "of another") == 0);
  // Nothing is left beside the files.
  CHECK_EQUAL(context, rmdir("work") == 0 || errno == ENOENT, 1);
}

static void renamed(Context* context) {
  enter(context);
  MPI_File file = open_temporary(context, "work/file");
  if (context->rank == 0) {
    put("work/file", "opened");
    CHECK_EQUAL(context, rename("work/file", "work/kept"), 0);
  }
  close_after(context, &file, MPI_ERR_NO_SUCH_FILE);
  CHECK(context, strcmp(text_at("work/kept"), "opened") == 0);
}

static void replaced(Context* context) {
  enter(context);
  for (int renames = 0; renames < 2; renames++) {
    MPI_File file = open_temporary(context, "work/file");
    if (context->rank == 0) {
      if (renames) {
        put("work/next", "of another");
        CHECK_EQUAL(context, rename("work/next", "work/file"), 0);
      } else {
        CHECK_EQUAL(context, unlink("work/file"), 0);
        put("work/file", "of another");
      }
    }
    close_after(context, &file, MPI_ERR_NO_SUCH_FILE);
    CHECK(context, strcmp(text_at("work/file"), "of another") == 0);
    MPI_Barrier(context->comm);
    if (context->rank == 0) unlink("work/file");
    MPI_Barrier(context->comm);
  }
}

static void directory_renamed(Context* context) {
  enter(context);
  MPI_File file = open_temporary(context, "work/file");
  if (context->rank == 0) {
    CHECK_EQUAL(context, rename("work", "moved"), 0);
    CHECK_EQUAL(context, mkdir("work", 0755), 0);
    put("work/file", "of another");
  }
  close_after(context, &file, MPI_SUCCESS);
  CHECK(context, !is_there("moved/file"));
  CHECK(context, strcmp(text_at("work/file"), "of another") == 0);
}

static void directory_removed(Context* context) {
  enter(context);
  CHECK_EQUAL(context, chdir("work"), 0);
  MPI_File file = open_temporary(context, "file");
  if (context->rank == 0) {
    unlink("file");
    CHECK_EQUAL(context, rmdir("../work"), 0);
  }
  int value = 7 + context->rank, back = 0;
  CHECK_OK(context,
           MPI_File_write_at_all(file, 4 * context->rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(context,
           MPI_File_read_at(file, 4 * context->rank, &back, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(context, back, value);
  close_after(context, &file, MPI_ERR_NO_SUCH_FILE);
}

// The link goes, its target stays, as without the layer.
static void symbolic_link(Context* context) {
  enter(context);
  if (context->rank == 0) {
    put("work/target", "target");
    CHECK_EQUAL(context, symlink("target", "work/link"), 0);
  }
  MPI_Barrier(context->comm);
  MPI_File file = open_temporary(context, "work/link");
  close_after(context, &file, MPI_SUCCESS);
  CHECK(context, !is_there("work/link"));
  CHECK(context, strcmp(text_at("work/target"), "target") == 0);
}

// The first rank has mounts of its own, and mounts another file system over the directory.
static void mounted_over(Context* context) {
  enter(context);
  MPI_File file = open_temporary(context, "work/file");
  int mounted = 0;
  if (context->rank == 0) {
    mounted = unshare(CLONE_NEWNS) == 0 &&
              mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
              mount("none", "work", "tmpfs", 0, NULL) == 0;
    if (mounted) put("work/file", "of another");
  }
  close_after(context, &file, MPI_SUCCESS);
  if (context->rank == 0) {
    if (mounted) {
      CHECK(context, strcmp(text_at("work/file"), "of another") == 0);
      CHECK_EQUAL(context, umount("work"), 0);
    }
    CHECK(context, !is_there("work/file"));
    fprintf(stderr, "mounted over: %d\n", mounted);
  }
}

// A message names the file so that it can be found from anywhere.
static void named_in_messages(Context* context) {
  enter(context);
  char text[MPI_MAX_ERROR_STRING + 1] = "", full[2000] = "";
  int length = 0;
  CHECK_EQUAL(context, chdir("work"), 0);
  if (!getcwd(full, sizeof full - 10)) full[0] = 0;
  strcat(full, "/file");
  MPI_File file = open_temporary(context, "./file");
  CHECK_EQUAL(context, chdir("../other"), 0);
  if (context->rank == 0) CHECK_EQUAL(context, unlink("../work/file"), 0);
  MPI_Barrier(context->comm);
  int code = MPI_File_close(&file);
  CHECK_CLASS(context, code, MPI_ERR_NO_SUCH_FILE);
  MPI_Error_string(code, text, &length);
  // A longer name would leave no room for the reason.
  CHECK(context, strstr(text, strlen(full) <= 128 ? full : "'./file'"));
}

int main(int argc, char** argv) {
  const Case cases[] = {{"used_after_chdir", used_after_chdir},
                        {"renamed", renamed},
                        {"replaced", replaced},
                        {"directory_renamed", directory_renamed},
                        {"directory_removed", directory_removed},
                        {"symbolic_link", symbolic_link},
                        {"named_in_messages", named_in_messages},
                        {"mounted_over", mounted_over}};
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
