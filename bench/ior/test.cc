#include "ior/test.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "common/failure.h"
#include "common/meeting.h"
#include "common/posix_io.h"
#include "common/test_file.h"

namespace headrace::bench::ior {

Test::Test(const Parameters& parameters, const World& world, Hints hints,
           std::function<void(const Access&)> report)
    : parameters_(parameters),
      world_(world),
      layout_(parameters, world.size),
      hints_(std::move(hints)),
      report_(std::move(report)),
      buffer_(make_buffer(world.communicator, parameters.transfer_size, Buffer::Place::page)) {}

Results Test::run() {
  for (std::int64_t number = 0; number < parameters_.repetitions; ++number) {
    const RemovedOnSignal guard(file_name(parameters_, world_.rank, number),
                                parameters_.write_file && !parameters_.keep_file);
    try {
      repetition(number);
    } catch (const AgreedFailure&) {
      if (parameters_.write_file && !parameters_.keep_file) remove_files(number);
      throw;
    }
    const bool keep =
        parameters_.keep_file || (parameters_.keep_file_with_error && results_.wrong_bytes > 0);
    if (!keep) remove_files(number);
  }
  return std::move(results_);
}

void Test::repetition(std::int64_t number) {
  std::int64_t signature = parameters_.signature;
  if (signature == 0) {
    signature = static_cast<std::int64_t>(std::time(nullptr)) + number;
    MPI_Bcast(&signature, 1, MPI_INT64_T, 0, world_.communicator);
  }
  stamp_ = static_cast<std::uint32_t>(signature);
  if (parameters_.write_file) write(number);
  if (parameters_.check_write) check(number, Pass::check_write);
  if (parameters_.read_file) read(number);
  if (parameters_.check_read) check(number, Pass::check_read);
}

std::unique_ptr<Backend> Test::make_backend() const {
  if (parameters_.mpiio()) return make_mpiio_backend(parameters_, world_, layout_, hints_);
  return make_posix_backend(parameters_);
}

void Test::wait_between_tests() {
  if (parameters_.delay > 0) ::sleep(static_cast<unsigned>(parameters_.delay));
  meet(world_.communicator);
}

void Test::write(std::int64_t number) {
  if (!parameters_.use_existing) {
    remove_files(number);
    check_space(number);
  }
  wait_between_tests();
  const std::unique_ptr<Backend> backend = make_backend();
  Access access;
  access.writing = true;
  access.repetition = number;
  Stamps stamps;
  const std::string error = move(*backend, true, world_.rank, number, stamps, access);
  finish(access, stamps, error);
  check_file_size(number);
}

void Test::read(std::int64_t number) {
  wait_between_tests();
  const int task = reading_order(parameters_, world_, Pass::read, number)[world_.rank];
  const std::unique_ptr<Backend> backend = make_backend();
  Access access;
  access.writing = false;
  access.repetition = number;
  Stamps stamps;
  const std::string error = move(*backend, false, task, number, stamps, access);
  finish(access, stamps, error);
}

std::string Test::move(Backend& backend, bool writing, int task, std::int64_t number,
                       Stamps& stamps, Access& access) {
  Signature signature(parameters_, task, stamp_);
  const bool record_hints = parameters_.show_hints || parameters_.summary_format == "JSON";
  AccessClock clock(world_);
  const auto hints = [&] {
    return record_hints ? clock.stand_during([&] { return backend.hints(); }) : Hints{};
  };
  meet(world_.communicator);
  stamps.open_begin = clock.now();
  std::string error = backend.open(file_name(parameters_, task, number), writing, task);
  stamps.open_end = clock.now();
  access.opened_hints = hints();
  if (parameters_.barriers) meet(world_.communicator);

  stamps.transfer_begin = clock.now();
  const bool opened = error.empty();
  const bool go_on = backend.must_go_on();
  for (std::int64_t i = 0; opened && i < parameters_.transfers_per_task(); ++i) {
    const std::int64_t offset = layout_.offset(task, i);
    const std::string failed = writing ? backend.write(offset, signature.transfer(i, offset))
                                       : backend.read(offset, buffer_.bytes());
    if (failed.empty()) continue;
    if (error.empty()) error = failed;
    if (!go_on) break;
  }
  if (opened && writing && parameters_.fsync) {
    const std::string failed = backend.sync();
    if (error.empty()) error = failed;
  }
  stamps.transfer_end = clock.now();
  access.closing_hints = hints();
  if (parameters_.barriers) meet(world_.communicator);

  stamps.close_begin = clock.now();
  const std::string failed = backend.close();
  stamps.close_end = clock.now();
  // First what went wrong: closing may fail on other ranks because of it.
  agree(world_.communicator, error);
  return failed;
}

void Test::finish(Access access, const Stamps& stamps, const std::string& error) {
  agree(world_.communicator, error);
  access.seconds = durations(world_, stamps);
  access.bytes = parameters_.bytes_per_task() * world_.size;
  access.transfers = parameters_.transfers_per_task() * world_.size;
  results_.accesses.push_back(access);
  if (world_.rank == 0) report_(access);
}

void Test::check(std::int64_t number, Pass pass) {
  const int task = reading_order(parameters_, world_, pass, number)[world_.rank];
  const std::unique_ptr<Backend> backend = make_backend();
  meet(world_.communicator);
  const std::string path = file_name(parameters_, task, number);
  std::string error = backend->open(path, false, task);
  std::int64_t wrong = 0;
  std::string first_wrong;
  if (error.empty()) error = check_transfers(*backend, task, wrong, first_wrong);
  const std::string failed = backend->close();
  agree(world_.communicator, error.empty() ? failed : error);

  results_.wrong_bytes += sum(world_, wrong);
  if (wrong > 0) {
    std::fprintf(stderr, "ior: error: %lld wrong bytes in '%s', the first at %s\n",
                 static_cast<long long>(wrong), path.c_str(), first_wrong.c_str());
  }
  if (parameters_.quit_on_error) {
    agree(world_.communicator,
          wrong > 0 ? "stopped at wrong data in '" + path + "' (-q was given)" : std::string());
  }
}

std::string Test::check_transfers(Backend& backend, int task, std::int64_t& wrong,
                                  std::string& first_wrong) {
  Signature signature(parameters_, task, stamp_);
  std::string error;
  for (std::int64_t i = 0; i < parameters_.transfers_per_task(); ++i) {
    const std::int64_t offset = layout_.offset(task, i);
    std::ranges::fill(buffer_.bytes(), std::byte{0xa5});
    const std::string failed = backend.read(offset, buffer_.bytes());
    if (!failed.empty() && error.empty()) error = failed;
    if (!failed.empty() && !backend.must_go_on()) break;
    std::int64_t first = 0;
    const std::int64_t count = signature.mismatches(buffer_.bytes(), i, offset, first);
    if (count > 0 && wrong == 0) {
      first_wrong = "byte " + std::to_string(offset + first) + " (data of task " +
                    std::to_string(task) + ", transfer " + std::to_string(i) + ")";
    }
    wrong += count;
  }
  return error;
}

void Test::check_space(std::int64_t number) {
  const std::int64_t files = parameters_.file_per_process ? world_.size : 1;
  require_space(world_.communicator, file_name(parameters_, world_.rank, number),
                files * layout_.file_size());
}

void Test::check_file_size(std::int64_t number) {
  const std::string name = file_name(parameters_, world_.rank, number);
  const std::int64_t size = file_size(name);
  const bool wrong =
      parameters_.use_existing ? size < layout_.file_size() : size != layout_.file_size();
  const bool mine = parameters_.file_per_process || world_.rank == 0;
  std::string error;
  if (mine && wrong) {
    error = "'" + name + "' has " + std::to_string(size) + " bytes after writing (" +
            std::to_string(layout_.file_size()) + " were written and reported as success)";
  }
  agree(world_.communicator, error);
}

void Test::remove_files(std::int64_t number) {
  remove_test_file(world_.communicator, file_name(parameters_, world_.rank, number),
                   parameters_.file_per_process || world_.rank == 0);
}

}  // namespace headrace::bench::ior
