#include "symm_mem/layout.hpp"

#include <limits>

#include "wire.hpp"

namespace symm_mem {
namespace {

// 2: captured barriers and signals, and the multicast probe, have words of their own.
constexpr std::uint32_t kLayoutVersion = 2;

bool unpack(const Bytes& record, std::uint32_t& version, Layout& layout) {
  Reader reader(record);
  version = reader.get<std::uint32_t>();
  if (version != kLayoutVersion) return reader.ok();
  layout.bytes = reader.get<std::uint64_t>();
  layout.data_offset = reader.get<std::uint64_t>();
  layout.total = reader.get<std::uint64_t>();
  layout.ranks = reader.get<std::uint32_t>();
  layout.route = reader.get<std::uint32_t>();
  return reader.ok();
}

Error refuse(int rank, std::string text) {
  return {.call = "compare_layouts", .rank = rank, .phase = Phase::layout, .text = std::move(text)};
}

}  // namespace

Result<Layout> plan_layout(std::uint64_t bytes, int ranks, std::size_t granularity,
                           std::uint32_t route) {
  const auto refuse_plan = [](std::string text) {
    return Error{.call = "plan_layout", .phase = Phase::allocate, .text = std::move(text)};
  };
  if (bytes == 0) return refuse_plan("a block needs at least one byte");
  if (ranks < 1 || granularity == 0 || granularity % kDataAlignment != 0) {
    return refuse_plan("granularity " + std::to_string(granularity) + " is not a multiple of " +
                       std::to_string(kDataAlignment));
  }
  Layout layout;
  layout.bytes = bytes;
  layout.ranks = static_cast<std::uint32_t>(ranks);
  layout.route = route;
  const std::uint64_t pads = layout.probe(layout.ranks) + kProbeBytes;
  layout.data_offset = (pads + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  if (bytes > std::numeric_limits<std::uint64_t>::max() - layout.data_offset - granularity) {
    return refuse_plan("size " + std::to_string(bytes) + " is out of range");
  }
  layout.total = (layout.data_offset + bytes + granularity - 1) / granularity * granularity;
  return layout;
}

Bytes pack(const Layout& layout) {
  Writer writer;
  writer.put(kLayoutVersion);
  writer.put(layout.bytes);
  writer.put(layout.data_offset);
  writer.put(layout.total);
  writer.put(layout.ranks);
  writer.put(layout.route);
  return writer.take();
}

Status compare_layouts(const Group& group, const std::vector<Bytes>& records) {
  const auto root = static_cast<std::size_t>(group.root);
  Layout expected;
  for (std::size_t turn = 0; turn <= records.size(); ++turn) {
    // The root's record first: it is what the others are compared with.
    const std::size_t place = turn == 0 ? root : turn - 1;
    const int rank = group.members[place];
    std::uint32_t version = 0;
    Layout layout;
    if (!unpack(records[place], version, layout)) return refuse(rank, "layout record is cut short");
    if (version != kLayoutVersion) {
      return refuse(rank, "layout record of version " + std::to_string(version) +
                              ", this library speaks " + std::to_string(kLayoutVersion));
    }
    if (turn == 0) expected = layout;
    if (layout.bytes != expected.bytes) {
      return refuse(rank, "asks for " + std::to_string(layout.bytes) + " bytes, the root for " +
                              std::to_string(expected.bytes));
    }
    if (layout.data_offset != expected.data_offset || layout.total != expected.total ||
        layout.ranks != expected.ranks || layout.route != expected.route) {
      return refuse(rank, "lays the block out differently from the root");
    }
  }
  return {};
}

}  // namespace symm_mem
