#include "fuzz/model.h"

#include <algorithm>

#include "sim/random.h"

namespace headrace::fuzz {
namespace {

/// The etype a seek goes to, or the error.
struct Target {
  std::int64_t etype = 0;
  std::string error;
};

Target target_of(Whence whence, std::int64_t offset, std::int64_t current, const ViewMap& view,
                 std::int64_t size) {
  std::int64_t base = 0;
  if (whence == Whence::current) base = current;
  if (whence == Whence::end) {
    // Such a view has no one place that is the file's end.
    if (!view.shows_nothing() && !view.is_ascending()) return {0, "unsupported_operation"};
    base = view.etypes_below(size);
  }
  if (base + offset < 0) return {0, "arg"};
  return {base + offset, {}};
}

}  // namespace

Look initial_content(const Program& program, const Group& group) {
  const std::optional<std::int64_t> size = program.files[static_cast<std::size_t>(group.file)].size;
  if (!size) return std::nullopt;
  // A large file is a hole between two ends.
  constexpr std::int64_t kFilled = 300'000;
  sim::Content content;
  content.resize(*size);
  const auto seed = program.seed + static_cast<std::uint64_t>(group.file * 64 + group.number);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(std::min(*size, kFilled)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = sim::random_byte(seed, static_cast<std::int64_t>(i));
  }
  content.write(0, bytes);
  content.write(*size - std::ssize(bytes), bytes);
  return content;
}

FileState::FileState(const Mode& opened_as, std::size_t ranks)
    : mode(opened_as), views(ranks), maps(ranks) {}

bool FileState::has_one_view() const {
  return std::ranges::all_of(views, [&](const View& view) { return view == views.front(); });
}

std::vector<std::string> errors_of(const FileState& state, const Call& call) {
  const Step& step = *call.step;
  std::vector<std::string> errors;
  if (call.during_split && step.is_collective) errors.push_back("io");
  if (step.is_write && !state.mode.write) errors.push_back("read_only");
  if (!step.is_write && !state.mode.read) errors.push_back("access");
  if (state.mode.sequential && step.positioning != Positioning::shared) {
    errors.push_back("unsupported_operation");
  }
  if (call.part->count < 0) errors.push_back("count");
  if (step.positioning == Positioning::explicit_offset && call.part->offset < 0) {
    errors.push_back("arg");
  }
  if (wanted_bytes(*call.part) % state.maps[call.rank].unit() != 0) errors.push_back("arg");
  return errors;
}

std::int64_t start_of(const World& world, const Call& call, std::int64_t before) {
  switch (call.step->positioning) {
    case Positioning::explicit_offset: return call.part->offset;
    case Positioning::individual: return world.pointers[call.rank];
    default: return world.shared + before;
  }
}

std::int64_t shared_etypes(const FileState& state, const Call& call) {
  if (call.step->positioning != Positioning::shared || !errors_of(state, call).empty()) return 0;
  return wanted_bytes(*call.part) / state.maps[call.rank].unit();
}

Expected carry_out_access(World& world, const FileState& state, const Call& call, Memory memory,
                          std::int64_t start) {
  Expected expected;
  expected.errors = errors_of(state, call);
  const ViewMap& view = state.maps[call.rank];
  const bool writes = call.step->is_write;
  if (expected.errors.empty()) {
    const std::int64_t wanted = std::ssize(memory.places);
    sim::Content& content = *world.content;
    const std::int64_t reachable = call.cancelled || view.shows_nothing() ? 0 : wanted;
    for (; expected.bytes < reachable; ++expected.bytes) {
      const std::int64_t offset = view.offset_of(start * view.unit() + expected.bytes);
      const std::int64_t place = memory.places[static_cast<std::size_t>(expected.bytes)];
      std::uint8_t& byte = memory.bytes[static_cast<std::size_t>(place)];
      if (writes) {
        content.put(offset, byte);
      } else if (offset < content.size()) {
        byte = content.at(offset);
      } else {
        break;
      }
    }
    if (writes && reachable < wanted && !call.cancelled) expected.errors.push_back("arg");
    // A blocking call moves the pointer by the whole etypes that were done, as its status tells;
    // others cannot know and move it by what is asked for.
    if (call.step->positioning == Positioning::individual) {
      const bool is_blocking = call.step->style == Style::blocking;
      world.pointers[call.rank] = start + (is_blocking ? expected.bytes : wanted) / view.unit();
    }
  }
  expected.memory = std::move(memory.bytes);
  return expected;
}

Expected carry_out_query(World& world, const FileState& state, const Call& call) {
  Expected expected;
  const ViewMap& view = state.maps[call.rank];
  switch (call.step->kind) {
    case StepKind::seek: {
      const Target target = target_of(call.step->whence, call.part->offset,
                                      world.pointers[call.rank], view, world.size());
      if (target.error.empty())
        world.pointers[call.rank] = target.etype;
      else
        expected.errors.push_back(target.error);
      break;
    }
    case StepKind::shared_position: expected.value = world.shared; break;
    case StepKind::get_size: expected.value = world.size(); break;
    default:
      if (call.part->offset < 0) {
        expected.errors.push_back("arg");
      } else {
        expected.value = view.shows_nothing() ? view.displacement()
                                              : view.offset_of(call.part->offset * view.unit());
      }
  }
  return expected;
}

std::string seek_shared(World& world, const FileState& state, const Step& step) {
  const Target target =
      target_of(step.whence, step.value, world.shared, state.maps.front(), world.size());
  if (target.error.empty()) world.shared = target.etype;
  return target.error;
}

FileState open(World& world, const Mode& mode, std::size_t ranks) {
  if (!world.content && mode.create) world.content.emplace();
  world.shared = mode.append ? world.size() : 0;
  world.pointers.assign(ranks, world.shared);
  return FileState(mode, ranks);
}

std::optional<FileState> with_views(const World& world, const FileState& state,
                                    const std::vector<const Part*>& parts) {
  FileState next = state;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const View& view = parts[rank]->view;
    const ViewMap& old = state.maps[rank];
    if (view.current != state.mode.sequential) return std::nullopt;
    std::int64_t displacement = view.displacement;
    if (view.current) {
      displacement =
          old.shows_nothing() ? old.displacement() : old.offset_of(world.shared * old.unit());
    }
    next.views[rank] = view;
    next.maps[rank] = ViewMap(view, displacement);
    const ViewMap& map = next.maps[rank];
    if (displacement < 0 || map.filetype().size() % map.unit() != 0) return std::nullopt;
    if (expand(view.etype).extent() != expand(parts[0]->view.etype).extent()) return std::nullopt;
    if (!map.shows_nothing() && displacement + map.filetype().lowest() < 0) return std::nullopt;
  }
  return next;
}

}  // namespace headrace::fuzz
