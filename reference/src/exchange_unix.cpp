#include "symm_mem/exchange_unix.hpp"

#include "letter_exchange.hpp"
#include "socket_carrier.hpp"

namespace symm_mem {
namespace {

class UnixExchange final : public LetterExchange {
 public:
  explicit UnixExchange(std::unique_ptr<SocketCarrier> sockets)
      : LetterExchange(sockets->rank(), sockets->size()), sockets_(std::move(sockets)) {}

 private:
  Carrier& carrier() override { return *sockets_; }
  ExchangeResult reach(int to, Letter::Kind) override { return sockets_->reach(to); }
  ExchangeResult carry(int to, Letter letter) override {
    return sockets_->send(to, std::move(letter));
  }

  std::unique_ptr<SocketCarrier> sockets_;
};

}  // namespace

Result<std::unique_ptr<Exchange>> open_unix_exchange(const std::string& directory, int rank,
                                                     int size, std::chrono::nanoseconds startup) {
  auto sockets = SocketCarrier::open(directory, rank, size, startup);
  if (!sockets) return sockets.error();
  return std::unique_ptr<Exchange>(std::make_unique<UnixExchange>(sockets.take()));
}

}  // namespace symm_mem
