#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo/node.h"

namespace headrace::topo {
namespace {

/// What the identity is in a child process that has called `prepare` first.
template <class Prepare>
std::string identity_of_child(Prepare prepare) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = prepare() ? node_identity() : "";
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text(1'000, '\0');
  const ssize_t len = read(ends[0], text.data(), text.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, len)));
  return text;
}

TEST(Node, IsTheSameForProcessesThatSeeEachOther) {
  EXPECT_FALSE(node_identity().empty());
  EXPECT_EQ(identity_of_child([] { return true; }), node_identity());
}

TEST(Node, DiffersBetweenNamespaces) {
  const std::string other = identity_of_child([] { return unshare(CLONE_NEWIPC) == 0; });
  if (other.empty()) GTEST_SKIP() << "this process may not make namespaces";
  EXPECT_NE(other, node_identity());
}

TEST(Node, HasACore) {
  EXPECT_GE(node_cores(), 1);
}

}  // namespace
}  // namespace headrace::topo
