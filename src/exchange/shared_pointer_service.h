#pragma once

#include <memory>
#include <mutex>

#include "base/process_mark.h"
#include "exchange/shared_pointer_home.h"
#include "exchange/shared_pointer_server.h"

namespace headrace::exchange {

/// Lets other nodes move the shared pointers of teams whose first rank is this process. One server
/// serves all these teams and runs while there are any.
class SharedPointerService {
 public:
  /// The service of this process.
  static SharedPointerService& of_process();

  /// Serves one team while it lives.
  class Host {
   public:
    /// `most_channels`: see SharedPointerRegistry::add_team.
    Host(SharedPointerService& service, int most_channels);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// Where the other ranks find the pointers. If this process cannot listen, it has no port, and
    /// says why.
    const SharedPointerHome& home() const { return home_; }

    void add_channel(int id, SharedPointer& pointer);
    void remove_channel(int id);

   private:
    SharedPointerService& service_;
    SharedPointerHome home_;
  };

  /// Ends the server. Called at the end of MPI, since a team on a communicator that is never freed
  /// stays.
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
