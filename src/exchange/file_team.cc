#include "exchange/file_team.h"

#include "exchange/shared_pointers.h"

namespace headrace::exchange {
namespace {

class NodesFileTeam : public FileTeam {
 public:
  explicit NodesFileTeam(std::shared_ptr<fabric::Team> ranks) : ranks_(std::move(ranks)) {}

  /// Collective.
  Error start() { return pointers_->start(*ranks_); }

  fabric::Team& ranks() override { return *ranks_; }
  Result<std::unique_ptr<FileChannel>> open_channel() override {
    return ranks_->open_channel<FileChannel>(pointers_);
  }

 private:
  std::shared_ptr<fabric::Team> ranks_;
  std::shared_ptr<SharedPointers> pointers_ = std::make_shared<SharedPointers>();
};

}  // namespace

Result<std::shared_ptr<FileTeam>> FileTeam::create(std::shared_ptr<fabric::Team> ranks) {
  std::shared_ptr<NodesFileTeam> team;
  const Error lacking = attempt([&]() -> Error {
    team = std::make_shared<NodesFileTeam>(ranks);
    return {};
  });
  if (Error error = ranks->agree(lacking)) return error;
  if (Error error = team->start()) return error;
  return std::shared_ptr<FileTeam>(std::move(team));
}

Result<std::shared_ptr<FileTeam>> FileTeam::create(std::unique_ptr<fabric::Messenger> messenger,
                                                   const std::string& node, bool has_room) {
  auto ranks = fabric::Team::create(std::move(messenger), node, FileChannel::needs(), has_room);
  if (!ranks) return ranks.error();
  return create(std::move(ranks.value()));
}

}  // namespace headrace::exchange
