#include "fuzz_file.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "harness.h"

namespace headrace::fuzz {
namespace {

std::string message_of(int code) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  if (code != MPI_SUCCESS) MPI_Error_string(code, text, &length);
  return text;
}

int amode_of(const Mode& mode) {
  int amode = mode.read && mode.write ? MPI_MODE_RDWR
              : mode.write            ? MPI_MODE_WRONLY
                                      : MPI_MODE_RDONLY;
  if (mode.create) amode |= MPI_MODE_CREATE;
  if (mode.exclusive) amode |= MPI_MODE_EXCL;
  if (mode.append) amode |= MPI_MODE_APPEND;
  if (mode.sequential) amode |= MPI_MODE_SEQUENTIAL;
  if (mode.delete_on_close) amode |= MPI_MODE_DELETE_ON_CLOSE;
  if (mode.unique_open) amode |= MPI_MODE_UNIQUE_OPEN;
  return amode;
}

class InfoOf {
 public:
  explicit InfoOf(const Hints& hints) {
    if (hints.empty()) return;
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints) MPI_Info_set(info_, key.c_str(), value.c_str());
  }
  ~InfoOf() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  InfoOf(const InfoOf&) = delete;
  InfoOf& operator=(const InfoOf&) = delete;
  MPI_Info handle() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

int whence_of(Whence whence) {
  return whence == Whence::set       ? MPI_SEEK_SET
         : whence == Whence::current ? MPI_SEEK_CUR
                                     : MPI_SEEK_END;
}

/// The harness's number for a way to find the place.
int method_of(const Step& step) {
  switch (step.positioning) {
    case Positioning::explicit_offset: return step.is_collective ? AT_ALL : AT;
    case Positioning::individual: return step.is_collective ? ALL : PLAIN;
    default: return step.is_collective ? ORDERED : SHARED;
  }
}

/// A status that tells of nothing until a call fills it.
MPI_Status empty_status() {
  MPI_Status status{};
  MPI_Status_set_elements(&status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(&status, 0);
  return status;
}

bool is_in_status(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class == MPI_ERR_IN_STATUS;
}

bool uses_large_forms(const Step& step) {
  return step.id % 3 == 0;
}

}  // namespace

std::string class_of(int code) {
  if (code == MPI_SUCCESS) return {};
  int error_class = MPI_ERR_OTHER;
  MPI_Error_class(code, &error_class);
  const std::pair<int, const char*> names[] = {
      {MPI_ERR_ACCESS, "access"},
      {MPI_ERR_AMODE, "amode"},
      {MPI_ERR_ARG, "arg"},
      {MPI_ERR_BAD_FILE, "bad_file"},
      {MPI_ERR_COUNT, "count"},
      {MPI_ERR_FILE, "file"},
      {MPI_ERR_FILE_EXISTS, "file_exists"},
      {MPI_ERR_IO, "io"},
      {MPI_ERR_NO_MEM, "no_mem"},
      {MPI_ERR_NO_SPACE, "no_space"},
      {MPI_ERR_NO_SUCH_FILE, "no_such_file"},
      {MPI_ERR_NOT_SAME, "not_same"},
      {MPI_ERR_READ_ONLY, "read_only"},
      {MPI_ERR_REQUEST, "request"},
      {MPI_ERR_TYPE, "type"},
      {MPI_ERR_UNSUPPORTED_DATAREP, "unsupported_datarep"},
      {MPI_ERR_UNSUPPORTED_OPERATION, "unsupported_operation"}};
  for (const auto& [value, name] : names) {
    if (value == error_class) return name;
  }
  return "other";
}

FuzzFile::FuzzFile(const Program& program, const Group& group, int rank, MPI_Comm comm,
                   const std::string& directory)
    : program_(program),
      group_(group),
      rank_(rank),
      comm_(comm),
      path_(directory + "/" + group.name) {}

FuzzFile::~FuzzFile() {
  MPI_Comm_free(&comm_);
}

const Part& FuzzFile::part(const Step& step) const {
  return step.parts[static_cast<std::size_t>(rank_)];
}

void FuzzFile::open_first() {
  const File& file = program_.files[static_cast<std::size_t>(group_.file)];
  if (is_first()) {
    unlink(path_.c_str());
    if (const Look content = initial_content(program_, group_)) write_content(path_, *content);
  }
  MPI_Barrier(comm_);
  if (const int code = open(file.mode, file.hints); code != MPI_SUCCESS) {
    problems_.push_back(group_.name + ": open: " + class_of(code) + " " + message_of(code));
  }
}

int FuzzFile::open(const Mode& mode, const Hints& hints) {
  mode_ = mode;
  atomic_ = false;
  const InfoOf info(hints);
  return MPI_File_open(comm_, path_.c_str(), amode_of(mode), info.handle(), &file_);
}

void FuzzFile::close_last() {
  if (file_ == MPI_FILE_NULL) return;
  if (const int code = MPI_File_close(&file_); code != MPI_SUCCESS) {
    problems_.push_back(group_.name + ": close: " + class_of(code) + " " + message_of(code));
  }
  MPI_Barrier(comm_);
  look(0);
  if (is_first()) unlink(path_.c_str());
}

/// The ranks of the group are between two barriers.
void FuzzFile::look(int id) {
  if (is_first()) images_[id] = image_of(path_);
}

void FuzzFile::take(const Step& step) {
  if (file_ == MPI_FILE_NULL || !part(step).takes_part) return;
  if (step.kind == StepKind::wait) return wait(step);
  Seen& seen = seen_[step.id];
  const int code = carry_out(step, seen);
  seen.error = class_of(code);
  seen.message = message_of(code);
  MPI_Offset position = 0;
  if (file_ != MPI_FILE_NULL && !mode_.sequential &&
      MPI_File_get_position(file_, &position) == MPI_SUCCESS) {
    seen.position = position;
  }
}

int FuzzFile::carry_out(const Step& step, Seen& seen) {
  switch (step.kind) {
    case StepKind::access: return access(step, seen);
    case StepKind::end: return end(step);
    case StepKind::seek: return MPI_File_seek(file_, part(step).offset, whence_of(step.whence));
    case StepKind::seek_shared:
      return MPI_File_seek_shared(file_, step.value, whence_of(step.whence));
    case StepKind::set_view: return set_view(step);
    case StepKind::set_size: return MPI_File_set_size(file_, step.value);
    case StepKind::preallocate: return MPI_File_preallocate(file_, step.value);
    case StepKind::set_hints: return MPI_File_set_info(file_, InfoOf(step.hints).handle());
    case StepKind::set_atomicity:
      atomic_ = step.atomic;
      return MPI_File_set_atomicity(file_, step.atomic);
    case StepKind::sync: return MPI_File_sync(file_);
    case StepKind::meet:
      meet();
      if (step.looks) {
        look(step.id);
        MPI_Barrier(comm_);
      }
      return MPI_SUCCESS;
    case StepKind::reopen: return reopen(step);
    default: return query(step, seen);
  }
}

void FuzzFile::meet() {
  if (!atomic_) MPI_File_sync(file_);
  MPI_Barrier(comm_);
  if (!atomic_) MPI_File_sync(file_);
}

int FuzzFile::query(const Step& step, Seen& seen) {
  MPI_Offset value = -1;
  int code = MPI_SUCCESS;
  switch (step.kind) {
    case StepKind::shared_position: code = MPI_File_get_position_shared(file_, &value); break;
    case StepKind::get_size: code = MPI_File_get_size(file_, &value); break;
    default: code = MPI_File_get_byte_offset(file_, part(step).offset, &value); break;
  }
  if (code == MPI_SUCCESS) seen.value = value;
  return code;
}

int FuzzFile::set_view(const Step& step) {
  const View& view = part(step).view;
  const MpiType etype(view.etype, uses_large_forms(step));
  const MpiType filetype(view.filetype, uses_large_forms(step));
  return MPI_File_set_view(file_, view.current ? MPI_DISPLACEMENT_CURRENT : view.displacement,
                           etype.handle(), filetype.handle(), "native",
                           InfoOf(step.hints).handle());
}

int FuzzFile::reopen(const Step& step) {
  int code = MPI_File_close(&file_);
  MPI_Barrier(comm_);
  look(step.id);
  MPI_Barrier(comm_);
  return code == MPI_SUCCESS ? open(step.mode, step.hints) : code;
}

int FuzzFile::access(const Step& step, Seen& seen) {
  const Part& mine = part(step);
  const bool large = uses_large_forms(step);
  Access access{&step, make_memory(program_, step, rank_), MpiType(mine.memory, large)};
  void* buffer = access.memory.bytes.data() + access.memory.origin;
  if (mine.absolute) {
    MPI_Aint address = 0;
    MPI_Get_address(buffer, &address);
    access.type = access.type.at(address);
    buffer = MPI_BOTTOM;
  }
  const int count = static_cast<int>(mine.count);
  const MPI_Datatype type = access.type.handle();
  const int method = method_of(step);
  if (step.style == Style::blocking) {
    MPI_Status status = empty_status();
    const int code =
        transfer(file_, step.is_write, method, large, mine.offset, buffer, count, type, &status);
    accesses_[step.id] = std::move(access);
    complete(step.id, code, status);
    return code;
  }
  int code = MPI_SUCCESS;
  if (step.style == Style::split) {
    code = begin_transfer(file_, step.is_write, method, large, mine.offset, buffer, count, type);
    if (code == MPI_SUCCESS) split_ = std::move(access);
  } else {
    code = start_transfer(file_, step.is_write, method, large, mine.offset, buffer, count, type,
                          &access.request);
    if (code == MPI_SUCCESS) accesses_[step.id] = std::move(access);
  }
  if (code != MPI_SUCCESS) seen.memory = std::move(access.memory.bytes);
  return code;
}

int FuzzFile::end(const Step& step) {
  const bool matches = split_ && split_->step->is_write == step.is_write &&
                       split_->step->positioning == step.positioning;
  std::uint8_t nothing = 0;
  void* buffer = split_ ? split_->memory.bytes.data() + split_->memory.origin : &nothing;
  if (split_ && part(*split_->step).absolute) buffer = MPI_BOTTOM;
  MPI_Status status = empty_status();
  const int method = step.positioning == Positioning::shared            ? ORDERED
                     : step.positioning == Positioning::explicit_offset ? AT_ALL
                                                                        : ALL;
  const int code = end_transfer(file_, step.is_write, method, buffer, &status);
  if (!matches) return code;
  const int id = split_->step->id;
  accesses_[id] = std::move(*split_);
  split_.reset();
  complete(id, code, status);
  return MPI_SUCCESS;  // an error is the access's
}

/// Keeps what became of an access. Its error is that of its start, if there was one.
void FuzzFile::complete(int id, int code, MPI_Status& status) {
  Seen& seen = seen_[id];
  MPI_Count bytes = 0;
  int cancelled = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  MPI_Test_cancelled(&status, &cancelled);
  seen.bytes = bytes;
  seen.cancelled = cancelled != 0;
  seen.memory = std::move(accesses_[id].memory.bytes);
  if (code != MPI_SUCCESS) {
    seen.error = class_of(code);
    seen.message = message_of(code);
  }
  accesses_.erase(id);
}

void FuzzFile::wait(const Step& step) {
  std::vector<int> ids;
  for (const int id : part(step).waits) {
    if (accesses_.contains(id)) ids.push_back(id);
  }
  if (part(step).waits.empty()) return;
  if (step.cancels) {
    for (const int id : ids) MPI_Cancel(&accesses_[id].request);
  }
  switch (step.completion) {
    case Completion::wait:
      for (const int id : ids) wait_for_all({id}, Completion::wait);
      break;
    case Completion::test:
      for (const int id : ids) wait_for_all({id}, Completion::test);
      break;
    case Completion::waitall:
    case Completion::testall: wait_for_all(ids, step.completion); break;
    case Completion::waitany: wait_for_any(ids, true); break;
    case Completion::testany: wait_for_any(ids, false); break;
    case Completion::waitsome: wait_for_some(ids, true); break;
    case Completion::testsome: wait_for_some(ids, false); break;
  }
  Seen& seen = seen_[step.id];
  MPI_Offset position = 0;
  if (!mode_.sequential && MPI_File_get_position(file_, &position) == MPI_SUCCESS) {
    seen.position = position;
  }
}

/// Wait and test are given one request, the others all.
void FuzzFile::wait_for_all(const std::vector<int>& ids, Completion completion) {
  std::vector<MPI_Request> requests;
  std::vector<MPI_Status> statuses(ids.size(), empty_status());
  for (const int id : ids) requests.push_back(accesses_[id].request);
  const int count = static_cast<int>(ids.size());
  int code = MPI_SUCCESS;
  int flag = 0;
  switch (completion) {
    case Completion::wait: code = MPI_Wait(requests.data(), statuses.data()); break;
    case Completion::test:
      while (flag == 0 && code == MPI_SUCCESS) {
        code = MPI_Test(requests.data(), &flag, statuses.data());
        sched_yield();
      }
      break;
    case Completion::waitall: code = MPI_Waitall(count, requests.data(), statuses.data()); break;
    default:
      while (flag == 0 && code == MPI_SUCCESS) {
        code = MPI_Testall(count, requests.data(), &flag, statuses.data());
        sched_yield();
      }
      break;
  }
  const bool in_status = is_in_status(code);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (requests[i] != MPI_REQUEST_NULL) problems_.push_back(path_ + ": a request stays");
    complete(ids[i], in_status ? statuses[i].MPI_ERROR : code, statuses[i]);
  }
}

void FuzzFile::wait_for_any(const std::vector<int>& ids, bool blocking) {
  std::vector<MPI_Request> requests;
  for (const int id : ids) requests.push_back(accesses_[id].request);
  const int count = static_cast<int>(ids.size());
  for (int left = count; left > 0;) {
    MPI_Status status = empty_status();
    int index = MPI_UNDEFINED;
    int flag = 1;
    const int code = blocking ? MPI_Waitany(count, requests.data(), &index, &status)
                              : MPI_Testany(count, requests.data(), &index, &flag, &status);
    if (!blocking) sched_yield();
    if (flag == 0 && code == MPI_SUCCESS) continue;
    if (index < 0 || index >= count) {
      problems_.push_back(path_ + ": no index from waitany or testany");
      return;
    }
    complete(ids[static_cast<std::size_t>(index)], code, status);
    left -= 1;
  }
}

void FuzzFile::wait_for_some(const std::vector<int>& ids, bool blocking) {
  std::vector<MPI_Request> requests;
  for (const int id : ids) requests.push_back(accesses_[id].request);
  const int count = static_cast<int>(ids.size());
  for (int left = count; left > 0;) {
    std::vector<MPI_Status> statuses(ids.size(), empty_status());
    std::vector<int> indices(ids.size(), -1);
    int done = 0;
    const int code = (blocking ? MPI_Waitsome : MPI_Testsome)(count, requests.data(), &done,
                                                              indices.data(), statuses.data());
    if (!blocking) sched_yield();
    if (done == MPI_UNDEFINED || (blocking && done == 0)) {
      problems_.push_back(path_ + ": nothing from waitsome or testsome");
      return;
    }
    for (int i = 0; i < done; ++i) {
      MPI_Status& status = statuses[static_cast<std::size_t>(i)];
      complete(ids[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])],
               is_in_status(code) ? status.MPI_ERROR : code, status);
    }
    left -= done;
  }
}

}  // namespace headrace::fuzz
