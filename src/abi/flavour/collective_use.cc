#include "abi/flavour/collective_use.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "abi/flavour/job.h"
#include "abi/flavour/library_version.h"
#include "base/message.h"
#include "base/result.h"
#include "base/settings.h"
#include "base/small_file.h"
#include "base/spelling.h"
#include "collective/choice_log.h"
#include "collective/measured_version.h"
#include "collective/use_table.h"
#include "record/decision.h"

namespace headrace::HEADRACE_FLAVOUR {
namespace {

using collective::Operation;

constexpr const char* kOtherVersion =
    "it was measured to be slower, but in another version of the MPI library";

collective::Library find_library() {
#ifdef HEADRACE_FLAVOUR_OPENMPI
  return collective::Library::openmpi;
#else
  const std::string_view version = library_version();
  if (version.find("Intel") != std::string_view::npos) return collective::Library::intel;
  return version.find("MPICH") != std::string_view::npos ? collective::Library::mpich
                                                         : collective::Library::other;
#endif
}

collective::Library library() {
  static const collective::Library found = find_library();
  return found;
}

/// The user's table; null without one. What is wrong with it is told by rank 0 of the job.
const collective::UseTable* users_table() {
  static const collective::UseTable* const table = []() -> const collective::UseTable* {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20;
    const std::string& name = settings().coll_table;
    if (name.empty()) return nullptr;
    const std::string text = read_small_file(name.c_str(), kMostBytes);
    auto* const read = new collective::UseTable(collective::read_use_table(text));
    if (text.empty()) read->problems.emplace_back("nothing can be read there, name another file");
    if (rank_in_job() != 0) return read;
    for (const std::string& problem : read->problems) {
      print_message("HEADRACE_COLL_TABLE='" + printable(name) + "': " + problem);
    }
    return read;
  }();
  return table;
}

SwitchedOff find_switched_off() {
  SwitchedOff found;
  for (const std::string& name : settings().coll_off) {
    std::string_view own = name;
    if (own.starts_with("mpi_")) own.remove_prefix(4);
    const auto operation = collective::operation_named(own);
    if (own == "1" || own == "all") {
      found.operations = ~0U;
    } else if (operation) {
      found.operations |= 1U << static_cast<unsigned>(*operation);
    } else if (own != "0") {
      found.unknown.push_back(name);
    }
  }
  return found;
}

bool is_shipped_table_of_version() {
  static const bool is = collective::is_measured_version(library(), library_version());
  return is;
}

bool is_in_shipped_table(Operation operation) {
  return std::ranges::any_of(collective::kUses, [&](const collective::Use& use) {
    return use.library == library() && use.operation == operation;
  });
}

const char* find_why_never(Operation operation) {
  if ((switched_off().operations >> static_cast<unsigned>(operation) & 1U) != 0) {
    return "HEADRACE_COLL_OFF names it";
  }
  if (reduces(operation) && settings().coll_order == CollectiveOrderSetting::library) {
    return "HEADRACE_COLL_ORDER=library";
  }
  if (settings().coll_use == CollectiveUseSetting::always) return nullptr;
  if (!settings().coll_table.empty()) return nullptr;
  if (!is_in_shipped_table(operation)) return collective::kNotSlower;
  return is_shipped_table_of_version() ? nullptr : kOtherVersion;
}

}  // namespace

const SwitchedOff& switched_off() {
  static const auto& off = *new SwitchedOff(find_switched_off());
  return off;
}

std::optional<collective::Measured> what_was_measured() {
  if (settings().coll_use == CollectiveUseSetting::always) return std::nullopt;
  collective::Measured measured;
  measured.library = library();
  if (users_table() != nullptr) {
    measured.uses = users_table()->uses;
  } else if (!is_shipped_table_of_version()) {
    measured.uses = {};
  }
  return measured;
}

const char* why_never(Operation operation) {
  using Reasons = std::array<const char*, collective::kOperations>;
  static const Reasons reasons = [] {
    Reasons found{};
    for (int i = 0; i < collective::kOperations; ++i) {
      found[static_cast<std::size_t>(i)] = find_why_never(static_cast<Operation>(i));
    }
    return found;
  }();
  return reasons[static_cast<std::size_t>(operation)];
}

bool is_watched(Operation operation) {
  return settings().coll_display || why_never(operation) == nullptr;
}

void record_unwatched() {
  if (rank_in_job() != 0) return;
  static_cast<void>(attempt([]() -> Error {
    for (int i = 0; i < collective::kOperations; ++i) {
      const auto operation = static_cast<Operation>(i);
      if (is_watched(operation)) continue;
      const std::string name(name_of(operation));
      record::note_decision({name, collective::kLibraryItself, why_never(operation), ""}, false);
    }
    return {};
  }));
}

}  // namespace headrace::HEADRACE_FLAVOUR
