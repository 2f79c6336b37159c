#pragma once

#include <cstdint>
#include <variant>

#include "harness/platform/broker/wire.hpp"
#include "harness/platform/model/race_log.hpp"

// Records of the search for races on the way to the broker, one after the other in one message.
namespace symmcts::platform {

inline void put_race_record(WireWriter& out, const RaceOp& op) {
  out.put(std::uint8_t{0}).put(op.id).put(op.stream).put(op.kind).put(op.seen);
  out.put(op.submitted).put(op.ended).put(op.correlation).put_text(op.call);
  out.put(static_cast<std::uint32_t>(op.after.size()));
  for (const std::uint64_t id : op.after) out.put(id);
  out.put(static_cast<std::uint32_t>(op.accesses.size()));
  for (const RaceAccess& access : op.accesses) {
    out.put(access.allocation).put(access.offset).put(access.size).put(access.write);
  }
}

inline void put_race_record(WireWriter& out, const RaceHost& host) {
  out.put(std::uint8_t{1}).put(host.kind).put(host.at).put(host.to).put(host.oldest);
  out.put(static_cast<std::uint32_t>(host.ids.size()));
  for (const std::uint64_t id : host.ids) out.put(id);
}

// Takes the next one. What is no record turns in.ok() false.
inline std::variant<RaceOp, RaceHost> take_race_record(WireReader& in) {
  const auto times = [&](const auto& each) {
    const auto count = in.take<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && in.ok(); ++i) each();
  };
  const auto type = in.take<std::uint8_t>();
  if (type == 0) {
    RaceOp op;
    op.id = in.take<std::uint64_t>();
    op.stream = in.take<std::uint32_t>();
    op.kind = in.take<RaceOp::Kind>();
    op.seen = in.take<std::uint64_t>();
    op.submitted = in.take<Moment>();
    op.ended = in.take<Moment>();
    op.correlation = in.take<std::uint32_t>();
    op.call = in.take_text();
    times([&] { op.after.push_back(in.take<std::uint64_t>()); });
    times([&] {
      RaceAccess access;
      access.allocation = in.take<std::uint64_t>();
      access.offset = in.take<std::uint64_t>();
      access.size = in.take<std::uint64_t>();
      access.write = in.take<std::uint8_t>();
      op.accesses.push_back(access);
    });
    if (op.kind > RaceOp::Kind::host_function) in.fail();
    return op;
  }
  RaceHost host;
  host.kind = in.take<RaceHost::Kind>();
  host.at = in.take<Moment>();
  host.to = in.take<std::int32_t>();
  host.oldest = in.take<std::uint64_t>();
  times([&] { host.ids.push_back(in.take<std::uint64_t>()); });
  if (type != 1 || host.kind > RaceHost::Kind::stopped) in.fail();
  return host;
}

}  // namespace symmcts::platform
