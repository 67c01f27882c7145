#include "exchange/shared_pointer_service.h"

#include <cerrno>
#include <new>

namespace headrace::exchange {

/// Never destroyed, so that it outlives static objects. A forked process has none of its parent's
/// threads and gets a service of its own.
SharedPointerService& SharedPointerService::of_process() {
  static std::atomic<SharedPointerService*> kept = nullptr;
  SharedPointerService* present = kept.load(std::memory_order_acquire);
  while (present == nullptr || !present->process_.is_here()) {
    std::unique_ptr<SharedPointerService> made(new SharedPointerService);
    // The parent's service stays as it is: the parent's thread may have been using it.
    if (kept.compare_exchange_strong(present, made.get(), std::memory_order_acq_rel)) {
      return *made.release();
    }
  }
  return *present;
}

SharedPointerService::Host::Host(SharedPointerService& service, int most_channels)
    : service_(service) {
  service_.add(home_, most_channels);
}

SharedPointerService::Host::~Host() {
  service_.remove(home_);
}

void SharedPointerService::Host::add_channel(int id, SharedPointer& pointer) {
  service_.registry_.add_channel(home_.secret, id, pointer);
}

void SharedPointerService::Host::remove_channel(int id) {
  if (service_.process_.is_here()) service_.registry_.remove_channel(home_.secret, id);
}

/// The others wait for this rank to tell them its home. So if it lacks anything, even memory,
/// `home` says so.
void SharedPointerService::add(SharedPointerHome& home, int most_channels) {
  const std::lock_guard lock(mutex_);
  hosts_ += 1;
  try {
    home.system_error = host(home, most_channels).system_error;
  } catch (const std::bad_alloc&) {
    home = {};
    home.system_error = ENOMEM;
  }
}

Error SharedPointerService::host(SharedPointerHome& home, int most_channels) {
  if (Error failed = start_server()) return failed;
  const Result<Secret> secret = draw_secret();
  if (!secret) return secret.error();
  describe_own_network(home);
  registry_.add_team(secret.value(), most_channels);
  home.greeting = greeting_;
  home.secret = secret.value();
  home.port = server_->port();
  return {};
}

Error SharedPointerService::start_server() {
  if (server_) return {};
  const Result<Secret> greeting = draw_secret();
  if (!greeting) return greeting.error();
  auto server = std::make_unique<SharedPointerServer>(registry_, greeting.value());
  if (Error failed = server->start()) return failed;
  greeting_ = greeting.value();
  server_ = std::move(server);
  return {};
}

void SharedPointerService::remove(const SharedPointerHome& home) {
  if (!process_.is_here()) return;
  registry_.remove_team(home.secret);
  const std::lock_guard lock(mutex_);
  hosts_ -= 1;
  if (hosts_ == 0) server_.reset();
}

void SharedPointerService::stop() {
  if (!process_.is_here()) return;
  const std::lock_guard lock(mutex_);
  server_.reset();
}

}  // namespace headrace::exchange
