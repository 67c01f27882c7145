#include "common/hints.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "common/failure.h"

namespace headrace::bench {
namespace {

constexpr std::string_view prefix = "IOR_HINT__";
constexpr std::string_view mpi_layer = "MPI__";

/// Takes "IOR_HINT__<layer>__<key>=<value>"; hints of other layers than MPI are none of ours.
bool take_assignment(std::string_view text, Hints& hints) {
  const std::size_t equal = text.find('=');
  if (!text.starts_with(prefix) || equal == std::string_view::npos) return false;
  std::string_view key = text.substr(0, equal);
  key.remove_prefix(prefix.size());
  if (!key.starts_with(mpi_layer)) return key.find("__") != std::string_view::npos;
  key.remove_prefix(mpi_layer.size());
  if (key.empty()) return false;
  hints[std::string(key)] = text.substr(equal + 1);
  return true;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Hints requested_hints(const std::string& file_name) {
  Hints hints;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    take_assignment(*variable, hints);
  }
  if (file_name.empty()) return hints;
  std::ifstream file(file_name);
  if (!file) throw Failure(describe_errno("cannot read the hints file '" + file_name + "'", errno));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string text = trimmed(line);
    if (text.empty() || text.starts_with('#') || take_assignment(text, hints)) continue;
    throw Failure("bad line " + std::to_string(number) + " of the hints file '" + file_name +
                  "' (it must be IOR_HINT__MPI__<key>=<value>), correct it");
  }
  return hints;
}

Hints requested_hints(MPI_Comm communicator, const std::string& file_name) {
  Hints hints;
  std::string error;
  try {
    hints = requested_hints(file_name);
  } catch (const Failure& failure) {
    error = failure.what();
  }
  agree(communicator, error);
  return hints;
}

MPI_Info make_info(const Hints& hints) {
  if (hints.empty()) return MPI_INFO_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : hints) {
    if (MPI_Info_set(info, key.c_str(), value.c_str()) != MPI_SUCCESS) {
      MPI_Info_free(&info);
      throw Failure("the MPI library refuses the hint '" + key + "'");
    }
  }
  return info;
}

Hints file_hints(MPI_File file) {
  Hints hints;
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return hints;
  int count = 0;
  MPI_Info_get_nkeys(info, &count);
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = {};
    char value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);  // MPI 3 has no MPI_Info_get_string
    if (found != 0) hints[key] = value;
  }
  MPI_Info_free(&info);
  return hints;
}

void print_hints(const Hints& hints) {
  std::printf("\nhints returned from opened file {\n");
  for (const auto& [key, value] : hints) std::printf("\t%s = %s\n", key.c_str(), value.c_str());
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace headrace::bench
