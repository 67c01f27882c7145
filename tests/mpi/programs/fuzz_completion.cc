// How a FuzzFile completes the calls it has begun.
#include <sched.h>

#include "fuzz_errors.h"
#include "fuzz_file.h"

namespace headrace::fuzz {

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
