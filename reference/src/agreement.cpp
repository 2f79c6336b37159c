#include "symm_mem/agreement.hpp"

#include <algorithm>
#include <numeric>

#include "wire.hpp"

namespace symm_mem {
namespace {

// FNV-1a over the group's id and members: groups that overlap, or that were given the same id by
// mistake, never read each other's messages (SM-AGRE-7).
std::uint64_t tag_prefix(const Group& group) {
  std::uint32_t hash = 2166136261u;
  const auto mix = [&hash](std::uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ ((value >> shift) & 0xff)) * 16777619u;
  };
  mix(group.id);
  for (const int member : group.members) mix(static_cast<std::uint32_t>(member));
  return static_cast<std::uint64_t>(hash) << 32;
}

Bytes pack_turn(const Status& status, const std::vector<Bytes>& payloads) {
  Writer writer;
  put_status(writer, status);
  writer.put(static_cast<std::uint32_t>(payloads.size()));
  for (const Bytes& payload : payloads) writer.put_bytes(payload);
  return writer.take();
}

bool unpack_turn(const Bytes& message, std::size_t expected, Status& status,
                 std::vector<Bytes>& payloads) {
  Reader reader(message);
  status = get_status(reader);
  const auto count = reader.get<std::uint32_t>();
  payloads.clear();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) payloads.push_back(reader.get_bytes());
  return reader.ok() && (!status || payloads.size() == expected);
}

}  // namespace

Result<Group> make_group(const Exchange& exchange, std::uint32_t id, std::vector<int> members,
                         int root) {
  const auto refuse = [&exchange](std::string text) {
    return Error{.call = "make_group", .rank = exchange.rank(), .text = std::move(text)};
  };
  if (members.empty()) {
    members.resize(static_cast<std::size_t>(exchange.size()));
    std::iota(members.begin(), members.end(), 0);
  }
  std::vector<int> sorted = members;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return refuse("a rank is listed twice");
  }
  if (sorted.front() < 0 || sorted.back() >= exchange.size()) {
    return refuse("a member is no rank of the exchange, which has " +
                  std::to_string(exchange.size()));
  }
  const auto self = std::find(members.begin(), members.end(), exchange.rank());
  if (self == members.end()) return refuse("this rank is no member");
  if (root < 0 || root >= static_cast<int>(members.size())) {
    return refuse("root " + std::to_string(root) + " is no rank of the group");
  }
  return Group{
      .id = id, .members = members, .me = static_cast<int>(self - members.begin()), .root = root};
}

Agreement::Agreement(Exchange& exchange, Group group, std::chrono::nanoseconds deadline)
    : exchange_(exchange),
      group_(std::move(group)),
      deadline_(deadline),
      tag_prefix_(tag_prefix(group_)) {}

std::uint64_t Agreement::next_tag() { return tag_prefix_ | sequence_++; }

void Agreement::pause(std::chrono::nanoseconds time) {
  // A message of this rank to itself that nobody sends: no sequence number is ever that high.
  Bytes nothing;
  (void)exchange_.receive(exchange_.rank(), tag_prefix_ | 0xffffffffu, nothing, time);
}

// SM-AGRE-8: every wait has a deadline, and its end names the rank.
Error Agreement::broken(const ExchangeResult& result, const char* call, Phase phase, int member) {
  const int rank = group_.members[static_cast<std::size_t>(member)];
  std::string text = "rank " + std::to_string(rank);
  switch (result.end) {
    case ExchangeResult::End::timed_out:
      text += " did not answer in time";
      break;
    case ExchangeResult::End::closed:
      text += " is gone";
      break;
    default:
      text += " cannot be reached";
      break;
  }
  if (!result.text.empty()) text += " (" + result.text + ")";
  broken_ = Error{.call = call, .rank = rank, .phase = phase, .text = std::move(text)};
  return *broken_;
}

Result<std::vector<Bytes>> Agreement::all_gather(Phase phase, Status mine, Bytes payload) {
  if (broken_) return *broken_;
  if (!mine && mine.error().rank < 0) mine.error().rank = exchange_.rank();
  const std::uint64_t tag = next_tag();
  return group_.is_root() ? collect(phase, tag, mine, std::move(payload))
                          : ask_root(phase, tag, mine, payload);
}

// The root: hears everyone, then answers everyone, also when somebody is missing.
Result<std::vector<Bytes>> Agreement::collect(Phase phase, std::uint64_t tag, const Status& mine,
                                              Bytes payload) {
  std::vector<Bytes> payloads(static_cast<std::size_t>(group_.size()));
  payloads[static_cast<std::size_t>(group_.me)] = std::move(payload);
  Status verdict;
  for (int member = 0; member < group_.size(); ++member) {
    const auto place = static_cast<std::size_t>(member);
    Status theirs;
    if (member == group_.me) {
      theirs = mine;
    } else {
      Bytes message;
      const ExchangeResult heard =
          exchange_.receive(group_.members[place], tag, message, deadline_);
      std::vector<Bytes> single;
      if (!heard) {
        verdict = broken(heard, "agree", phase, member);
        break;
      }
      if (!unpack_turn(message, 1, theirs, single)) {
        theirs = Error{.call = "agree",
                       .rank = group_.members[place],
                       .phase = phase,
                       .text = "message of another version"};
      } else if (theirs) {
        payloads[place] = std::move(single.front());
      }
    }
    // The lowest rank's failure; but one that no other try can help comes before one that it may.
    if (!theirs && (verdict || (is_transient(verdict.error()) && !is_transient(theirs.error())))) {
      verdict = std::move(theirs);
    }
  }

  const Bytes answer = pack_turn(verdict, verdict ? payloads : std::vector<Bytes>());
  for (int member = 0; member < group_.size(); ++member) {
    if (member == group_.me) continue;
    const ExchangeResult sent =
        exchange_.send(group_.members[static_cast<std::size_t>(member)], tag, answer);
    if (!sent && verdict) verdict = broken(sent, "agree", phase, member);
  }
  if (!verdict) return verdict.error();
  return payloads;
}

Result<std::vector<Bytes>> Agreement::ask_root(Phase phase, std::uint64_t tag, const Status& mine,
                                               const Bytes& payload) {
  const int root = group_.members[static_cast<std::size_t>(group_.root)];
  const ExchangeResult sent = exchange_.send(
      root, tag, pack_turn(mine, mine ? std::vector<Bytes>{payload} : std::vector<Bytes>()));
  if (!sent) return broken(sent, "agree", phase, group_.root);

  // Twice the root's own deadline: the root gives up first and says who is missing.
  Bytes message;
  const ExchangeResult heard = exchange_.receive(root, tag, message, 2 * deadline_);
  if (!heard) return broken(heard, "agree", phase, group_.root);

  Status verdict;
  std::vector<Bytes> payloads;
  if (!unpack_turn(message, static_cast<std::size_t>(group_.size()), verdict, payloads)) {
    verdict =
        Error{.call = "agree", .rank = root, .phase = phase, .text = "message of another version"};
  }
  if (!verdict) {
    if (verdict.error().call == "agree") broken_ = verdict.error();
    return verdict.error();
  }
  return payloads;
}

Result<Bytes> Agreement::broadcast(Phase phase, Status mine, Bytes payload) {
  Result<std::vector<Bytes>> all =
      all_gather(phase, std::move(mine), group_.is_root() ? std::move(payload) : Bytes());
  if (!all) return all.error();
  return std::move(all.value()[static_cast<std::size_t>(group_.root)]);
}

Status Agreement::vote(Phase phase, Status mine) {
  return all_gather(phase, std::move(mine), {}).status();
}

Result<std::vector<Descriptor>> Agreement::all_gather_descriptors(Phase phase,
                                                                  const Descriptor& mine) {
  if (broken_) return *broken_;
  const std::uint64_t tag = next_tag();
  for (int member = 0; member < group_.size(); ++member) {
    if (member == group_.me) continue;
    const ExchangeResult sent = exchange_.send_descriptor(
        group_.members[static_cast<std::size_t>(member)], tag, mine.get());
    if (!sent) return broken(sent, "send descriptor", phase, member);
  }
  std::vector<Descriptor> all(static_cast<std::size_t>(group_.size()));
  for (int member = 0; member < group_.size(); ++member) {
    if (member == group_.me) continue;
    const auto place = static_cast<std::size_t>(member);
    int fd = -1;
    const ExchangeResult heard =
        exchange_.receive_descriptor(group_.members[place], tag, fd, deadline_);
    if (!heard) return broken(heard, "receive descriptor", phase, member);
    all[place] = Descriptor(fd);
  }
  return all;
}

Result<Descriptor> Agreement::pass_descriptor(Phase phase, const Descriptor& mine) {
  if (broken_) return *broken_;
  const std::uint64_t tag = next_tag();
  const int next = (group_.me + 1) % group_.size();
  const int previous = (group_.me + group_.size() - 1) % group_.size();
  const ExchangeResult sent =
      exchange_.send_descriptor(group_.members[static_cast<std::size_t>(next)], tag, mine.get());
  if (!sent) return broken(sent, "send descriptor", phase, next);
  int fd = -1;
  const ExchangeResult heard = exchange_.receive_descriptor(
      group_.members[static_cast<std::size_t>(previous)], tag, fd, deadline_);
  if (!heard) return broken(heard, "receive descriptor", phase, previous);
  return Descriptor(fd);
}

Result<Descriptor> Agreement::broadcast_descriptor(Phase phase, const Descriptor& mine) {
  if (broken_) return *broken_;
  const std::uint64_t tag = next_tag();
  if (!group_.is_root()) {
    int fd = -1;
    const ExchangeResult heard = exchange_.receive_descriptor(
        group_.members[static_cast<std::size_t>(group_.root)], tag, fd, deadline_);
    if (!heard) return broken(heard, "receive descriptor", phase, group_.root);
    return Descriptor(fd);
  }
  for (int member = 0; member < group_.size(); ++member) {
    if (member == group_.me) continue;
    const ExchangeResult sent = exchange_.send_descriptor(
        group_.members[static_cast<std::size_t>(member)], tag, mine.get());
    if (!sent) return broken(sent, "send descriptor", phase, member);
  }
  return Descriptor();
}

}  // namespace symm_mem
