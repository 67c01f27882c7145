#pragma once

#include <memory>
#include <mutex>

#include "base/process_mark.h"
#include "exchange/shared_pointer_home.h"
#include "exchange/shared_pointer_server.h"

namespace headrace::exchange {

/// Lets other nodes move the shared pointers of teams whose first rank is this process: one server
/// for all of them, which runs while there are any.
class SharedPointerService {
 public:
  /// This process's own.
  static SharedPointerService& of_process();

  /// One team, until its end.
  class Host {
   public:
    /// `most_channels` as SharedPointerRegistry::add_team has it.
    Host(SharedPointerService& service, int most_channels);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Where the others find it; nowhere, with the reason, where this process cannot listen.
    const SharedPointerHome& home() const { return home_; }

    void add_channel(int id, SharedPointer& pointer);
    void remove_channel(int id);

   private:
    SharedPointerService& service_;
    SharedPointerHome home_;
  };

  /// Ends the server. For the end of MPI: a team on a communicator that is never freed stays.
  void stop();

 private:
  SharedPointerService() = default;
  void add(SharedPointerHome& home, int most_channels);
  Error host(SharedPointerHome& home, int most_channels);
  Error start_server();
  void remove(const SharedPointerHome& home);

  ProcessMark process_;
  SharedPointerRegistry registry_;
  std::mutex mutex_;  ///< guards what follows; held by host and start_server
  int hosts_ = 0;
  Secret greeting_{};
  std::unique_ptr<SharedPointerServer> server_;
};

}  // namespace headrace::exchange
