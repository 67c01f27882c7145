#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/clock.h"
#include "record/gather.h"
#include "record/image_file.h"
#include "record/image_owner.h"
#include "record/image_reader.h"

/// headrace_gather: makes a record of what the ranks of a job on this node have recorded so far.
/// For jobs that were killed, and to look at one that runs.
namespace {

using namespace headrace;

constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

struct Line {
  std::string job_directory;
  std::string record_directory;
  bool removes = false;
};

bool parse(int count, char** words, Line& line) {
  std::vector<std::string> places;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--remove") {
      line.removes = true;
    } else if (word.starts_with("-") || word.empty()) {
      return false;
    } else {
      places.emplace_back(word);
    }
  }
  if (places.size() != 2) return false;
  line.job_directory = places[0];
  line.record_directory = places[1];
  return true;
}

void tell(const std::string& text) {
  std::fprintf(stderr, "headrace: %s\n", text.c_str());
}

/// Those that could be read, of processes that have ended: others still fill theirs.
void remove_images(const std::vector<std::string>& paths, const std::string& directory) {
  for (const std::string& path : paths) {
    const Result<record::Image> image = record::Image::read(path);
    if (image && !record::owner_runs(image.value().header())) ::unlink(path.c_str());
  }
  record::remove_job_directory(directory);
}

int gather(const Line& line) {
  record::choose_clock();
  const auto paths = record::image_paths_in(line.job_directory);
  if (!paths) {
    tell(paths.error().message);
    return kFailed;
  }
  auto node = record::gather_images(paths.value(), 0);
  if (!node) {
    tell(node.error().message);
    return kFailed;
  }
  for (const std::string& each : node.value().left_out) tell("left out: " + each);
  record::JobRecord job({}, {{line.record_directory}});
  const Error failed = job.add(std::move(node.value()));
  const auto written = failed ? Result<record::WrittenRecord>(failed) : job.finish();
  if (!written) {
    tell(written.error().message);
    return kFailed;
  }
  std::printf("%s\n", written.value().path.c_str());
  if (line.removes) remove_images(paths.value(), line.job_directory);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  Line line;
  if (!parse(count, words, line)) {
    std::fprintf(stderr, "usage: headrace_gather DIRECTORY OUTPUT_DIRECTORY [--remove]\n");
    return kWrongUse;
  }
  return gather(line);
}
