#pragma once

#include <cstdint>

#include "harness/platform/broker/protocol.hpp"
#include "harness/support/result.hpp"
#include "harness/support/unique_fd.hpp"

namespace symmcts::platform {

// The broker's side of the page that clients read without asking.
class PublishedPage {
 public:
  static Result<PublishedPage> make();
  PublishedPage(PublishedPage&& other) noexcept;
  PublishedPage& operator=(PublishedPage&&) = delete;
  ~PublishedPage();

  void set_generation(std::uint64_t value);
  void set_unmanaged(std::uint64_t value);
  // For clients: it cannot be written through.
  int read_only_fd() const { return reader_.get(); }

 private:
  PublishedPage(MachinePage* page, UniqueFd reader) : page_(page), reader_(std::move(reader)) {}
  MachinePage* page_;
  UniqueFd reader_;
};

// A client's side.
class SeenPage {
 public:
  // Takes the descriptor that came with the welcome. A page that cannot be mapped is an Error.
  static Result<SeenPage> open(UniqueFd fd);
  SeenPage(SeenPage&& other) noexcept;
  SeenPage& operator=(SeenPage&&) = delete;
  ~SeenPage();

  std::uint64_t generation() const;
  std::uint64_t unmanaged() const;

 private:
  explicit SeenPage(MachinePage* page) : page_(page) {}
  MachinePage* page_;
};

}  // namespace symmcts::platform
