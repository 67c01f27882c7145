// Size, consistency, and attributes of a file.
#include "abi/flavour/end_of_job.h"
#include "abi/flavour/error.h"
#include "abi/flavour/handler.h"
#include "abi/flavour/hint.h"
#include "abi/flavour/request.h"

namespace headrace::HEADRACE_FLAVOUR::handler {

Error require(const void* pointer, const char* name) {
  if (pointer != nullptr) return {};
  return {ErrorClass::argument, 0,
          std::string("the argument ") + name +
              " is a null pointer (it must point to memory), give an address"};
}

Error get_size(OpenFile& file, MPI_Offset* size) {
  if (Error error = require(size, "size")) return error;
  const auto found = file.file->size();
  if (!found) return found.error();
  *size = found.value();
  return {};
}

Error set_size(OpenFile& file, MPI_Offset size) {
  return file.file->resize(size);
}

Error preallocate(OpenFile& file, MPI_Offset size) {
  return file.file->allocate(size);
}

Error sync(OpenFile& file) {
  free_done_requests();
  Error error = file.file->sync();
  // Errors of requests that the program gave up.
  if (!error) error = file.link->take();
  end_job_if_asked(file, error);
  return error;
}

Error get_atomicity(OpenFile& file, int* flag) {
  if (Error error = require(flag, "flag")) return error;
  *flag = file.file->atomicity() ? 1 : 0;
  return {};
}

Error set_atomicity(OpenFile& file, int flag) {
  return file.file->set_atomicity(flag != 0);
}

Error get_amode(OpenFile& file, int* amode) {
  if (Error error = require(amode, "amode")) return error;
  *amode = file.amode;
  return {};
}

Error get_group(OpenFile& file, MPI_Group* group) {
  if (Error error = require(group, "group")) return error;
  // The caller frees the group, so it gets a copy: our group without no rank.
  if (native.Group_excl(file.group, 0, nullptr, group) != MPI_SUCCESS) {
    return native_failure("copy a group");
  }
  return {};
}

Error get_info(OpenFile& file, MPI_Info* info) {
  if (Error error = require(info, "info_used")) return error;
  file::Hints hints = file.file->hints();
  if (!file.memory_kinds.empty()) hints[kMemoryKinds] = file.memory_kinds;
  return make_info(hints, info);
}

Error set_info(OpenFile& file, MPI_Info info) {
  file::Hints hints;
  const Error refused = attempt([&]() -> Error {
    hints = hints_of(info);
    return {};
  });
  return file.file->set_hints(hints, refused);
}

}  // namespace headrace::HEADRACE_FLAVOUR::handler
