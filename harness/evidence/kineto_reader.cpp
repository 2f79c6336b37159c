#include "harness/evidence/kineto_reader.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "harness/evidence/event_splitter.hpp"
#include "harness/evidence/json_scan.hpp"
#include "harness/evidence/kineto_event.hpp"

namespace symmcts::evidence {
namespace {

// No job has a million ranks; a larger number is damage.
constexpr int kMaxRanks = 1 << 20;
// Room for the sum with any time of the file; until the year 2096.
constexpr std::int64_t kMaxBase = 4'000'000'000'000'000'000;

// What stands beside the events, before or after them: the order is not fixed.
struct TopLevel {
  int rank = -1;
  int world = -1;
  std::int64_t base = 0;
  bool rocm = false;
  std::string driver_version;
  std::vector<DeviceInfo> devices;
};

int small_integer(const JsonValue& value) {
  const std::int64_t number = integer(value).value_or(-1);
  return number < 0 || number > kMaxRanks ? -1 : static_cast<int>(number);
}

// deviceProperties: an array of objects.
void read_devices(std::string_view array, TopLevel& top) {
  std::size_t at = 0;
  while ((at = array.find('{', at)) != std::string_view::npos) {
    DeviceInfo device;
    std::string_view key;
    JsonValue value;
    ObjectScanner scanner(array.substr(at));
    while (scanner.next(key, value)) {
      if (key == "id") {
        device.ordinal = small_integer(value);
      } else if (key == "name") {
        device.name = std::string(value.text);
      }
      at = static_cast<std::size_t>(value.text.data() + value.text.size() - array.data());
    }
    at = std::min(array.find('}', at), array.size());
    top.devices.push_back(std::move(device));
  }
}

constexpr char kCut[] = "the file is cut off or damaged";

// What is wrong with the end of the text, as one line; empty where it ends with its object.
std::string read_top_level(std::string_view text, bool inside, TopLevel& top) {
  ObjectScanner scanner(text, inside);
  std::string_view key;
  JsonValue value;
  while (scanner.next(key, value)) {
    if (key == "distributedInfo" && value.kind == JsonValue::Kind::nested) {
      if (const auto rank = member(value.text, "rank")) {
        top.rank = small_integer(*rank);
      }
      if (const auto world = member(value.text, "world_size")) {
        top.world = small_integer(*world);
      }
    } else if (key == "baseTimeNanoseconds") {
      const std::int64_t base = integer(value).value_or(0);
      top.base = base < 0 || base > kMaxBase ? 0 : base;
    } else if (key == "deviceProperties" && value.kind == JsonValue::Kind::nested) {
      read_devices(value.text, top);
    } else if (key == "cuda_driver_version") {
      top.driver_version = std::string(value.text);
    } else if (key == "roctracer_version" || key.substr(0, 4) == "hip_") {
      top.rocm = true;
    }
  }
  if (scanner.damaged() || scanner.rest().empty()) {
    return kCut;
  }
  const std::string_view rest = scanner.rest().substr(1);
  const bool more = rest.find_first_not_of(" \n\r\t") != std::string_view::npos;
  return more ? "something follows the end of the trace" : "";
}

// Merged and concatenated files hold events twice.
using CopyIdentity = std::tuple<int, std::int64_t, std::int64_t, Ns, Ns, std::int64_t, CopyKind>;
CopyIdentity identity(const Copy& copy) {
  return {copy.device, copy.stream, copy.corr, copy.start, copy.end, copy.bytes, copy.kind};
}

void shift(RankEvidence& rank, Ns base) {
  for (Copy& copy : rank.copies) {
    copy.start += base;
    copy.end += base;
  }
  for (Work& work : rank.works) {
    work.start += base;
    work.end += base;
  }
  for (Call& call : rank.calls) {
    call.t0 += base;
    call.t1 += base;
  }
}

// CPU events of several threads come in any order; the judge expects calls in time order.
void sort_by_time(RankEvidence& rank) {
  std::stable_sort(rank.calls.begin(), rank.calls.end(),
                   [](const Call& a, const Call& b) { return a.t0 < b.t0; });
  for (std::size_t i = 0; i < rank.calls.size(); ++i) {
    rank.calls[i].line = i;
  }
  std::stable_sort(rank.copies.begin(), rank.copies.end(),
                   [](const Copy& a, const Copy& b) { return a.start < b.start; });
}

}  // namespace

Result<RankEvidence> read_kineto(const std::string& path, std::string_view text, bool cut_off) {
  EventSplitter splitter(text);
  if (!splitter.found()) {
    return Error{path + (cut_off ? ": cut off before its first event"
                                 : ": no evidence and no trace: it has no traceEvents")};
  }
  RankEvidence rank;
  rank.file = path;
  std::set<CopyIdentity> seen;
  std::int64_t twice = 0;
  bool fraction = false;
  bool rocm = false;
  std::string_view event_text;
  std::int64_t unsplit = 0;
  const auto count_unsplit = [&] {
    rank.lost_copies += splitter.broken() > unsplit && may_be_copy(splitter.last_broken()) ? 1 : 0;
    unsplit = splitter.broken();
  };
  while (splitter.next(event_text)) {
    count_unsplit();
    KinetoEvent event = read_kineto_event(event_text);
    switch (event.kind) {
      case KinetoEvent::Kind::copy:
        fraction = fraction || event.fraction;
        rocm = rocm || event.unnamed_peer;
        if (seen.insert(identity(event.copy)).second) {
          rank.copies.push_back(event.copy);
        } else {
          ++twice;
        }
        break;
      case KinetoEvent::Kind::work:
        rank.works.push_back(event.work);
        break;
      case KinetoEvent::Kind::call:
        rank.calls.push_back(std::move(event.call));
        break;
      case KinetoEvent::Kind::damaged:
        ++rank.broken;
        rank.lost_copies += event.lost_copy ? 1 : 0;
        break;
      case KinetoEvent::Kind::other:
        break;
    }
  }
  count_unsplit();
  rank.broken += splitter.broken();
  TopLevel top;
  (void)read_top_level(splitter.before(), false, top);
  const std::string end = read_top_level(splitter.after(), true, top);
  shift(rank, top.base);
  sort_by_time(rank);

  rank.header.rank = top.rank;
  rank.header.world = top.world;
  rank.header.driver_version = top.driver_version;
  rank.header.clock = kProfilerClock;
  rank.header.devices = std::move(top.devices);
  rank.shows.peer_kind = !rocm && !top.rocm;
  rank.shows.resolution = fraction ? 1 : 1000;
  if (cut_off || splitter.cut_off()) {
    rank.cut = kCut;
  } else if (!splitter.bare()) {
    rank.cut = end;
  }
  if (!rank.cut.empty()) {
    rank.notes.push_back(rank.cut + "; what came before is used");
  }
  if (rank.broken > 0) {
    rank.notes.push_back(std::to_string(rank.broken) + " damaged events left out");
  }
  if (twice > 0) {
    rank.notes.push_back(std::to_string(twice) + " events that occur twice left out");
  }
  return rank;
}

int rank_of_file_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  int found = -1;
  for (const std::string_view word : {"rank", "worker"}) {
    for (std::size_t at = name.find(word); at != std::string_view::npos;
         at = name.find(word, at + 1)) {
      std::size_t digits = at + word.size();
      if (digits < name.size() && (name[digits] == '-' || name[digits] == '_')) {
        ++digits;
      }
      int value = -1;
      const auto [stop, error] =
          std::from_chars(name.data() + digits, name.data() + name.size(), value);
      if (error == std::errc() && value >= 0 && stop != name.data() + digits) {
        found = value;
      }
    }
  }
  return found;
}

}  // namespace symmcts::evidence
