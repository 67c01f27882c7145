#include "fuzz_file.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fuzz_errors.h"
#include "harness.h"

namespace headrace::fuzz {
namespace {

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

bool uses_large_forms(const Step& step) {
  return step.id % 3 == 0;
}

}  // namespace

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

}  // namespace headrace::fuzz
