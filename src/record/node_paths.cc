#include "record/node_paths.h"

#include <bit>

#include "base/mixed_hash.h"

namespace headrace::record {

std::size_t NodePaths::Hash::operator()(const Key& key) const {
  std::uint64_t hash = 0;
  for (const std::int64_t value : key) {
    hash = golden_hash(std::rotl(hash, 23) ^ static_cast<std::uint64_t>(value));
  }
  return hash ^ hash >> 32;
}

std::int64_t NodePaths::module(std::string_view file, std::string_view build_id) {
  const ModulesRow row{texts_.place(file), texts_.place(build_id)};
  const auto [found, is_new] = module_places_.try_emplace(
      {row.file, row.build_id}, static_cast<std::int64_t>(modules_.size()));
  if (is_new) modules_.push_back(row);
  return found->second;
}

PathsRow NodePaths::row_of(const Image& image, const Frame& frame, std::int64_t caller) {
  PathsRow row;
  row.caller = caller;
  if (frame.function != kNone) {  // its file stands in the place of a module
    const std::string_view name = image.field(NoteKind::function, frame.function, 0);
    row.module = module(image.field(NoteKind::function, frame.function, 1), {});
    row.function = texts_.place(name.empty() ? "?" : name);
    row.line = frame.line;
    return row;
  }
  if (frame.module != kNone) {
    row.module = module(image.field(NoteKind::module, frame.module, 0),
                        image.field(NoteKind::module, frame.module, 1));
  }
  row.offset = static_cast<std::int64_t>(frame.offset & INT64_MAX);
  return row;
}

std::vector<std::int64_t> NodePaths::add(const Image& image, std::span<const Frame> frames) {
  std::vector<std::int64_t> places;
  places.reserve(frames.size());
  for (const Frame& frame : frames) {
    const PathsRow row = row_of(image, frame, frame.caller == kNone ? -1 : places[frame.caller]);
    const auto [found, is_new] =
        path_places_.try_emplace(std::bit_cast<Key>(row), static_cast<std::int64_t>(paths_.size()));
    if (is_new) paths_.push_back(row);
    places.push_back(found->second);
  }
  return places;
}

}  // namespace headrace::record
