#pragma once

#include <string>
#include <utility>
#include <variant>

namespace symmcts {

// Why something could not be done, in one line that names the file, line or call.
struct Error {
  std::string message;
};

// A value or the Error that stands in its place. Nothing in the harness throws.
template <typename T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state_); }

  // Precondition of value(): the result holds one; of error(): it does not.
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  const std::string& error() const { return std::get<Error>(state_).message; }

 private:
  std::variant<T, Error> state_;
};

// Success, or the Error that prevented it.
class Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error.message)), failed_(true) {}

  explicit operator bool() const { return !failed_; }
  const std::string& error() const { return error_; }

 private:
  std::string error_;
  bool failed_ = false;
};

}  // namespace symmcts
