#include <bit>
#include <cstring>

#include "parsers/target.h"
#include "record/access_table.h"
#include "record/file_timeline.h"
#include "record/image_reader.h"
#include "record/node_tables.h"
#include "unit/made_images.h"
#include "unit/packed_sections.h"
#include "unit/private_folder.h"

// Images that ranks leave, whatever ended them.

namespace headrace::parsers {
namespace {

using record::CallClass;
using record::Image;
using record::NoteKind;

void require_sound(const Image& image) {
  for (const auto& [number, thread] : image.threads()) {
    for (const record::Row& row : thread.rows) {
      require(row.path == record::kNone || row.path < thread.frames.size(),
              "a row names a frame that is not there");
    }
    for (std::size_t i = 0; i < thread.frames.size(); ++i) {
      require(thread.frames[i].caller == record::kNone || thread.frames[i].caller < i,
              "a frame comes before its caller");
    }
  }
}

void run_image(const Input& input) {
  std::vector<std::byte> bytes(input.size());
  if (!input.empty()) std::memcpy(bytes.data(), input.data(), input.size());
  const Result<Image> image = Image::parse(std::move(bytes));
  if (!image) {
    require(!image.error().message.empty(), "an image is refused without a reason");
    return;
  }
  require_sound(image.value());
  const record::NodeRecord made =
      record::make_node_record({&image.value(), 1}, 0, {2'000'000, 1'000'000});
  for (const auto& [table, rows] : record::unpack(made.sections)) {
    for (const auto& column : rows.columns) {
      for (const std::int64_t value : column.values) require(value >= -2, "a number below zero");
    }
  }
}

Input bytes_of(record::MadeImage& made) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(&made.image->header());
  return {first, first + made.image->header().size};
}

std::vector<Input> image_corpus() {
  const record::PrivateFolder folder;
  record::MadeImage made(folder.path, "job", 0, 2);
  if (made.thread == nullptr) return {};
  std::vector<Input> inputs{bytes_of(made)};
  const std::uint32_t world = made.world(2);
  made.call("MPI_Send", CallClass::point_to_point, world, 100, 10);
  made.thread->add_message(1, 100);
  made.file("out.dat").opens = 1;
  made.note(NoteKind::fact, {"host", "n0"});
  made.note(NoteKind::decision, {"2000", "a", "b", "c", "d", "5"});
  made.note(NoteKind::function, {"f", "f.py"});
  record::TimelineMemory memory(*made.image, 1);
  made.thread->start_timeline(memory);
  record::ThreadTimeline& line = *made.thread->timeline();
  line.add({5000, 10, 0, 0, 0, 1, 100, 0});
  line.follow_regions(1, 1, 5000, true);
  line.enter(0, 6000, &memory);
  const auto files = record::AccessTable::make(*made.image);
  const auto events = record::FileTimeline::make(*made.image, 4 * sizeof(record::FileEvent));
  const auto& file = *files->find_or_add(record::AccessLayer::posix, {"/a"}).item;
  events->add({5000, 10, 8, 0, record::FileOperation::write, false}, file.counts);
  inputs.push_back(bytes_of(made));
  made.finish();
  inputs.push_back(bytes_of(made));
  return inputs;
}

}  // namespace

const Target image_target{"image", &run_image, &image_corpus};

}  // namespace headrace::parsers
