/* Calls of a program that look like the C library's, and are not; each mode says what went wrong.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef ssize_t (*Writer)(int, const void*, size_t);

static ssize_t hook(int descriptor, const void* from, size_t bytes) {
  (void)descriptor, (void)from, (void)bytes;
  return 4242;
}

/* A table with a function of the C library in it, in which the program puts its own. */
static struct {
  Writer write;
} volatile table = {write};

#ifdef WITH_OWN_FUNCTION
int own_getline(char* into, int room) __asm__("getline"); /* of own_functions.c */
#endif
#ifdef WITH_TEXT_RELOCATION
long write_by_text(int descriptor, const void* from, unsigned long bytes);
#endif

/* Replaces the program's slot of write, as tools do. */
static int hook_slot(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size, (void)data;
  const ElfW(Dyn)* entry = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
      entry = (const ElfW(Dyn)*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
  }
  const ElfW(Rela)* calls = NULL;
  const ElfW(Sym)* symbols = NULL;
  const char* strings = NULL;
  size_t bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) calls = (const ElfW(Rela)*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym)*)entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) strings = (const char*)entry->d_un.d_ptr;
  }
  for (size_t i = 0; i < bytes / sizeof(*calls); ++i) {
    if (strcmp(strings + symbols[ELF64_R_SYM(calls[i].r_info)].st_name, "write") == 0) {
      *(void**)(info->dlpi_addr + calls[i].r_offset) = (void*)hook;
    }
  }
  return 1; /* the program is the first */
}

static sigjmp_buf back;

static void leave(int signal) {
  (void)signal;
  siglongjmp(back, 1);
}

/* Leaves a call of read by siglongjmp. */
static void jump_out_of_read(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return;
  signal(SIGALRM, leave);
  if (sigsetjmp(back, 1) == 0) {
    alarm(1);
    if (read(ends[0], &byte, 1) < 0) return;
  }
  close(ends[0]);
  close(ends[1]);
}

static volatile int is_done;

static void* look_up(void* unused) {
  while (!is_done) dlsym(RTLD_DEFAULT, "strlen");
  return unused;
}

/* Loads and unloads an object that writes while others look symbols up: how many calls were its. */
static int load_often(const char* object, const char* name) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, look_up, NULL);
  int calls = 0;
  const int file = open(name, O_CREAT | O_WRONLY, 0600);
  for (int i = 0; i < 200; ++i) {
    void* const loaded = dlopen(object, RTLD_NOW);
    if (loaded == NULL) break;
    Writer writer = (Writer)dlsym(loaded, "write_for_program");
    if (writer(file, "12", 2) == 2) ++calls;
    dlclose(loaded);
  }
  is_done = 1;
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  close(file);
  return calls != 200;
}

static int write_file(const char* name) {
  const int file = open(name, O_CREAT | O_WRONLY, 0600);
  const int is_written = write(file, "12345", 5) == 5;
  close(file);
  return !is_written;
}

static int use(const char* mode, char** arguments) {
  char text[16] = "";
  (void)text;
  if (strcmp(mode, "data") == 0) return table.write(1, "x", 1) != 4242;
  if (strcmp(mode, "slot") == 0) return write(2, "x", 1) != 4242;
  if (strcmp(mode, "address") == 0) {
    ssize_t (*volatile reader)(int, void*, size_t) = read;
    const int file = open(arguments[0], O_RDONLY);
    return read(file, text, 2) != 2 || reader(file, text, 2) != 2;
  }
  if (strcmp(mode, "jump") == 0) {
    jump_out_of_read();
    return write_file(arguments[0]);
  }
  if (strcmp(mode, "load") == 0) return load_often(arguments[1], arguments[0]);
#ifdef WITH_OWN_FUNCTION
  if (strcmp(mode, "own") == 0) return own_getline(text, 16) != 3 || strcmp(text, "own") != 0;
#endif
#ifdef WITH_TEXT_RELOCATION
  if (strcmp(mode, "text") == 0) return write_by_text(2, "x", 1) != 1;
#endif
  return 1;
}

int main(int count, char** arguments) {
  int provided = 0;
  if (count < 2) return 2;
  if (strcmp(arguments[1], "data") == 0) table.write = hook;
  if (strcmp(arguments[1], "slot") == 0) dl_iterate_phdr(hook_slot, NULL);
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
  const int failed = use(arguments[1], arguments + 2);
  MPI_Finalize();
  return failed;
}
