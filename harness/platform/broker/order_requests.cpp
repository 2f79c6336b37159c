// BrokerState: messages about who can move, memory words, and scenario holds.
#include "harness/platform/broker/broker_state.hpp"

namespace symmcts::platform {
namespace {

std::optional<ObjectKind> kind_of_known(std::uint64_t handle) {
  if (handle == 0) return std::nullopt;
  return kind_of(handle);
}

}  // namespace

bool BrokerState::handle_order(Op op, Request& request) {
  WireReader& in = request.fields;
  const ClientId client = request.client;
  switch (op) {
    case Op::declare_managed:
      quiescence_.declare_managed(client);
      return true;
    case Op::message_out:
      quiescence_.message_out(client, in.take<std::int32_t>());
      return true;
    case Op::message_in:
      quiescence_.message_in(client, in.take<std::uint64_t>());
      return true;
    case Op::running:
      quiescence_.report_running(client);
      return true;
    case Op::stuck: {
      Stuck stuck;
      stuck.next_event = in.take<Ns>();
      stuck.deadline = in.take<Ns>();
      stuck.last_resort = in.take<std::uint8_t>() != 0;
      stuck.in_call = in.take<std::uint8_t>() != 0;
      stuck.in_exchange = in.take<std::uint8_t>() != 0;
      const auto seen = in.take<std::uint64_t>();
      stuck.where = in.take_text();
      stuck.calls = in.take_text();
      quiescence_.report_stuck(client, stuck, seen);
      // It may have reported before it heard that nobody waits for grants.
      if (!quiescence_.deterministic() && stuck.next_event != kNever) {
        unstick(client, Notice::Kind::granted, 0, kNever);
      }
      return true;
    }
    default:
      return false;
  }
}

void BrokerState::words_done(const std::vector<WordLog::Done>& done) {
  for (const auto& wait : done) unstick(wait.client, Notice::Kind::word_done, wait.id, wait.at);
}

bool BrokerState::handle_words(Op op, Request& request) {
  WireReader& in = request.fields;
  const auto aligned = [](std::uint64_t offset, std::uint8_t width) {
    return offset % 4 == 0 && (width == 4 || width == 8);
  };
  switch (op) {
    case Op::touch_words: {
      const auto allocation = in.take<std::uint64_t>();
      const auto offset = in.take<std::uint64_t>();
      const auto size = in.take<std::uint64_t>();
      // Only words are opened; a client that asks for more is none of ours.
      if (size > kMaxPacket || offset + size < offset) return false;
      words_.open(allocation, offset, size);
      reply(request, {});
      return true;
    }
    case Op::word_write: {
      const auto allocation = in.take<std::uint64_t>();
      const auto offset = in.take<std::uint64_t>();
      const auto width = in.take<std::uint8_t>();
      const auto value = in.take<std::uint64_t>();
      const auto at = in.take<Ns>();
      if (!aligned(offset, width)) return false;
      words_done(words_.write(allocation, offset, width, value, request.client, at));
      return true;
    }
    case Op::word_wait: {
      WordWait wait;
      wait.id = in.take<std::uint64_t>();
      wait.allocation = in.take<std::uint64_t>();
      wait.offset = in.take<std::uint64_t>();
      wait.width = in.take<std::uint8_t>();
      wait.test = static_cast<WordTest>(in.take<std::uint8_t>());
      wait.value = in.take<std::uint64_t>();
      wait.ready = in.take<Ns>();
      if (!aligned(wait.offset, wait.width) || wait.test > WordTest::nor) return false;
      if (const auto at = words_.wait(request.client, wait)) {
        unstick(request.client, Notice::Kind::word_done, wait.id, *at);
      }
      return true;
    }
    default:
      return false;
  }
}

bool BrokerState::handle_holds(Op op, Request& request) {
  WireReader& in = request.fields;
  const int rank = rank_of(request.client);
  const auto wait_at_gate = [&](Ns now, std::string function, std::optional<ObjectKind> object) {
    reply_or_park(request, 0, [this, rank, now, function, object]() -> std::optional<Answer> {
      const auto at = gates_.before(rank, function, object, now);
      if (!at) return std::nullopt;
      return Answer{Code::success, *at, {}, {}};
    });
  };
  switch (op) {
    case Op::before: {
      const auto handle = in.take<std::uint64_t>();
      wait_at_gate(request.now, in.take_text(), kind_of_known(handle));
      return true;
    }
    case Op::before_import: {
      const bool fabric = in.take<std::uint8_t>() != 0;
      const auto token = in.take<FabricToken>();
      std::optional<ObjectKind> object;
      if (fabric) {
        object = machine_.kind_of_token(token);
      } else if (const auto id = outlet_.find_descriptor(request.fd.get())) {
        object = machine_.kind_of_descriptor(*id);
      }
      wait_at_gate(request.now, in.take_text(), object);
      return true;
    }
    case Op::passed: {
      const auto handle = in.take<std::uint64_t>();
      gates_.passed(rank, in.take_text(), kind_of_known(handle), request.now);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace symmcts::platform
