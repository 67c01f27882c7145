#include "fuzz/program.h"

#include <algorithm>

namespace headrace::fuzz {

std::vector<Group> groups_of(const Program& program) {
  std::vector<Group> groups;
  for (std::size_t file = 0; file < program.files.size(); ++file) {
    std::map<int, Group> of_file;
    const std::vector<int>& numbers = program.files[file].groups;
    for (int rank = 0; rank < program.ranks(); ++rank) {
      const int number = numbers[static_cast<std::size_t>(rank)];
      of_file[number].ranks.push_back(rank);
    }
    for (auto& [number, group] : of_file) {
      group.file = static_cast<int>(file);
      group.number = number;
      group.name = "file" + std::to_string(file) + "." + std::to_string(number);
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

}  // namespace headrace::fuzz
