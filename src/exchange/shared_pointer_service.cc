#include "exchange/shared_pointer_service.h"

namespace headrace::exchange {

/// Outlasts static objects. A forked process has none of its parent's threads: it gets its own.
SharedPointerService& SharedPointerService::of_process() {
  static std::atomic<SharedPointerService*> kept = nullptr;
  SharedPointerService* present = kept.load(std::memory_order_acquire);
  while (present == nullptr || !present->process_.is_here()) {
    std::unique_ptr<SharedPointerService> made(new SharedPointerService);
    // The parent's stays as it is: its thread may have been using it.
    if (kept.compare_exchange_strong(present, made.get(), std::memory_order_acq_rel)) {
      return *made.release();
    }
  }
  return *present;
}

SharedPointerService::Host::Host(SharedPointerService& service) : service_(service) {
  service_.add(home_);
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

void SharedPointerService::add(SharedPointerHome& home) {
  const std::lock_guard lock(mutex_);
  hosts_ += 1;
  Error failed;
  if (!server_) {
    Result<Secret> greeting = draw_secret();
    if (greeting) {
      auto server = std::make_unique<SharedPointerServer>(registry_, greeting.value());
      failed = server->start();
      greeting_ = greeting.value();
      if (!failed) server_ = std::move(server);
    } else {
      failed = greeting.error();
    }
  }
  Result<Secret> secret = draw_secret();
  if (!secret) failed = secret.error();
  if (failed) {
    home.system_error = failed.system_error;
    return;
  }
  home.greeting = greeting_;
  home.secret = secret.value();
  home.port = server_->port();
  describe_own_network(home);
  registry_.add_team(home.secret);
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
