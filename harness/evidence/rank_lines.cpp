#include <set>

#include "harness/evidence/each_line.hpp"
#include "harness/evidence/json_fields.hpp"
#include "harness/evidence/json_lines.hpp"
#include "harness/support/seal.hpp"

namespace symmcts::evidence {
namespace {

using nlohmann::json;

// Beyond these a number is damage: no job has a million ranks, no record stands for 2^30 copies.
constexpr int kMaxRanks = 1 << 20;
constexpr std::int64_t kMaxCopies = 1 << 30;

Place read_place(const json* value) {
  Place place;
  if (value == nullptr) {
    return place;
  }
  JsonFields fields(*value);
  place.offset = fields.number("offset", 0);
  if (value->contains("mapping")) {
    place.kind = Place::Kind::mapping;
    place.number = fields.number("mapping");
  } else if (value->contains("alloc")) {
    place.kind = Place::Kind::alloc;
    place.number = fields.number("alloc");
  } else if (value->contains("host")) {
    place.kind = fields.text("host") == "pageable" ? Place::Kind::pageable : Place::Kind::pinned;
  }
  return place;
}

// One entry of `ops`: a memory operation of cuStreamBatchMemOp or a copy of a batch.
void read_op(const json& op, JsonFields& fields, CallArgs& args) {
  if (!op.is_object()) {
    fields.fail("'ops' holds something that is no object");
    return;
  }
  JsonFields members(op);
  if (!op.contains("op")) {
    args.batch.push_back(read_place(members.object("dst")));
    return;
  }
  const std::string kind = members.text("op");
  const bool write = kind.rfind("write", 0) == 0;
  if (!write && kind.rfind("wait", 0) != 0) {
    return;  // barrier, flush: order nothing between streams
  }
  WordOp word;
  word.write = write;
  word.at = read_place(members.object("at"));
  word.value = static_cast<std::uint64_t>(members.need_number("value"));
  args.words.push_back(word);
  fields.fail(members.problem());
}

CallArgs read_args(JsonFields& fields, const json& object) {
  CallArgs args;
  args.handle = fields.number("handle");
  args.mem_handle = fields.number("mem_handle");
  args.bytes = fields.number("bytes");
  args.device = fields.number("device");
  args.types = fields.number("types");
  args.range = fields.number("range");
  args.mapping = fields.number("mapping");
  args.offset = fields.number("offset");
  args.mc_offset = fields.number("mc_offset");
  args.mem_offset = fields.number("mem_offset");
  args.stream = fields.number("stream");
  args.event = fields.number("event");
  args.route = fields.text("route");
  args.token = fields.text("token");
  args.at = read_place(fields.object("at"));
  args.dst = read_place(fields.object("dst"));
  args.src = read_place(fields.object("src"));
  args.mappings = fields.numbers("mappings");
  // A count for cuMulticastCreate, a list for cuMemSetAccess, which the judge does not read.
  if (const auto devices = object.find("devices");
      devices != object.end() && devices->is_number_integer()) {
    args.devices = devices->get<std::int64_t>();
  }
  if (const auto value = object.find("value");
      value != object.end() && value->is_number_integer()) {
    args.value = value->get<std::uint64_t>();
  }
  if (const json* ops =
          object.contains("ops") && object["ops"].is_array() ? &object["ops"] : nullptr) {
    for (const json& op : *ops) {
      read_op(op, fields, args);
    }
  }
  return args;
}

MemoryKind memory_kind(const std::string& text) {
  return text == "pageable" ? MemoryKind::pageable
         : text == "pinned" ? MemoryKind::pinned
         : text == "device" ? MemoryKind::device
                            : MemoryKind::unknown;
}

void read_header(JsonFields& fields, RankEvidence& rank) {
  if (const std::string schema = fields.need_text("schema"); schema != "symm-cts/evidence/1") {
    fields.fail("schema '" + schema + "' is not symm-cts/evidence/1");
  }
  Header& header = rank.header;
  header.rank = static_cast<int>(fields.need_amount("rank"));
  header.world = static_cast<int>(fields.number("world"));
  if (header.rank > kMaxRanks || header.world > kMaxRanks) {
    fields.fail("'rank' or 'world' is out of range");
  }
  header.host = static_cast<int>(fields.number("host", 0));
  header.driver = fields.text("driver");
  header.platform = fields.text("platform");
  if (header.world >= 0 && header.rank >= header.world) {
    fields.fail("rank " + std::to_string(header.rank) + " of a world of " +
                std::to_string(header.world));
  }
  header.clock = fields.need_text("clock");
  header.run = fields.text("run");
  header.driver_version = fields.text_or_number("driver_version");
  if (const std::int64_t seed = fields.number("seed"); seed != kAbsent) {
    header.seed = static_cast<std::uint64_t>(seed);
  }
  if (const json* devices = fields.array("devices")) {
    for (const json& device : *devices) {
      if (!device.is_object()) {
        fields.fail("'devices' holds something that is no device");
        return;
      }
      JsonFields members(device);
      header.devices.push_back({static_cast<int>(members.number("ordinal")), members.text("uuid"),
                                members.text("name")});
    }
  }
  rank.shows = Capabilities{.provenance = true,
                            .targets = true,
                            .stream_waits = true,
                            .marks = true,
                            .peer_kind = true,
                            .resolution = 1};
}

void read_call(JsonFields& fields, std::size_t line, RankEvidence& rank) {
  Call call;
  call.seq = fields.need_number("seq");
  call.t0 = fields.need_amount("t0");
  call.t1 = fields.need_amount("t1");
  call.name = fields.need_text("name");
  call.result = static_cast<int>(fields.need_number("result"));
  call.corr = fields.number("corr");
  call.line = line;
  if (const json* args = fields.object("args")) {
    JsonFields members(*args);
    call.args = read_args(members, *args);
    if (!members.problem().empty()) {
      fields.fail("args: " + members.problem());
    }
  }
  rank.calls.push_back(std::move(call));
}

void read_copy(JsonFields& fields, RankEvidence& rank) {
  Copy copy;
  copy.corr = fields.number("corr");
  const std::string kind = fields.need_text("kind");
  copy.kind = copy_kind(kind).value_or(CopyKind::other);
  copy.bytes = fields.need_amount("bytes");
  copy.start = fields.need_amount("start");
  copy.end = fields.need_amount("end");
  copy.device = static_cast<int>(fields.number("device"));
  copy.context = fields.number("context");
  copy.stream = fields.number("stream");
  copy.channel = fields.number("channel");
  copy.channel_type = fields.number("channel_type");
  copy.src_kind = memory_kind(fields.text("src_kind"));
  copy.dst_kind = memory_kind(fields.text("dst_kind"));
  copy.src_device = static_cast<int>(fields.number("src_device"));
  copy.dst_device = static_cast<int>(fields.number("dst_device"));
  copy.copies = fields.number("copies", 1);
  if (copy.copies < 1 || copy.copies > kMaxCopies) {
    fields.fail("'copies' is out of range");
  }
  rank.copies.push_back(copy);
}

void read_fill(JsonFields& fields, RankEvidence& rank) {
  Work work;
  work.corr = fields.number("corr");
  work.bytes = fields.number("bytes", 0);
  work.start = fields.need_amount("start");
  work.end = fields.need_amount("end");
  work.device = static_cast<int>(fields.number("device"));
  work.stream = fields.number("stream");
  rank.works.push_back(work);
}

void read_mark(JsonFields& fields, std::size_t line, RankEvidence& rank) {
  Mark mark;
  mark.what = fields.need_text("what");
  mark.t = fields.need_amount("t");
  mark.case_name = fields.text("case");
  mark.ids = fields.texts("ids");
  mark.group = fields.text("group");
  for (const std::int64_t member : fields.numbers("ranks")) {
    mark.ranks.push_back(static_cast<int>(member));
  }
  mark.root = static_cast<int>(fields.number("root"));
  mark.phase = fields.text("phase");
  mark.label = fields.text("label");
  mark.call = fields.text("call");
  mark.code = static_cast<int>(fields.number("code", 0));
  mark.ok = fields.flag("ok", true);
  mark.text = mark.what == "skip" ? fields.text("reason") : fields.text("text");
  mark.line = line;
  if (mark.what == "check" && mark.ids.empty()) {
    fields.fail("a check without 'ids'");
  }
  rank.marks.push_back(std::move(mark));
}

void read_rank_line(const std::string& type, JsonFields& fields, std::size_t line,
                    RankEvidence& rank) {
  if (type == "header") {
    read_header(fields, rank);
  } else if (type == "call") {
    read_call(fields, line, rank);
  } else if (type == "enter") {
    rank.enters.push_back(
        {fields.need_number("seq"), fields.need_amount("t"), fields.need_text("name"), line});
  } else if (type == "copy") {
    read_copy(fields, rank);
  } else if (type == "fill") {
    read_fill(fields, rank);
  } else if (type == "mark") {
    read_mark(fields, line, rank);
  } else if (type == "dropped") {
    rank.dropped += fields.need_amount("records");
  } else if (type == "footer") {
    rank.footer = Footer{.seq = fields.need_amount("seq"),
                         .enters = fields.need_amount("enters"),
                         .calls = fields.need_amount("calls"),
                         .copies = fields.need_amount("copies"),
                         .fills = fields.need_amount("fills"),
                         .marks = fields.need_amount("marks"),
                         .deterministic = fields.flag("deterministic", false)};
  } else {
    fields.fail("unknown type '" + type + "'");
  }
}

// What contradicts itself within one file. Calls may come in any order: they are written when they
// end, and other threads make some too.
class Consistency {
 public:
  // Before the line is read.
  void place(const std::string& type, JsonFields& fields, std::size_t line) const {
    if (footer_line_ != 0) {
      fields.fail("a line after the footer");
    } else if ((type == "header") != (line == 1)) {
      fields.fail(line == 1 ? "the first line is no header" : "a second header");
    }
  }

  // After the line has been read into `rank`.
  void see(const std::string& type, JsonFields& fields, std::size_t line,
           const RankEvidence& rank) {
    if (type == "call") {
      once(calls_, "call", rank.calls.back().seq, fields);
    } else if (type == "enter") {
      once(enters_, "entry of call", rank.enters.back().seq, fields);
    } else if (type == "footer") {
      footer_line_ = line;
    }
  }

  // Of a file whose lines have all been read. `rest`: the file goes on after its last whole line.
  Status agrees(const RankEvidence& rank, std::string_view text, bool rest) const {
    if (footer_line_ == 0) {
      return {};
    }
    const std::string where = rank.file + ":" + std::to_string(footer_line_) + ": ";
    if (rest) {
      return Error{where + "the file goes on after its footer"};
    }
    const Footer& footer = *rank.footer;
    for (const auto& [noun, counted, there] : {Count{"enter", footer.enters, rank.enters.size()},
                                               Count{"call", footer.calls, rank.calls.size()},
                                               Count{"copy", footer.copies, rank.copies.size()},
                                               Count{"fill", footer.fills, rank.works.size()},
                                               Count{"mark", footer.marks, rank.marks.size()}}) {
      if (counted != static_cast<std::int64_t>(there)) {
        return Error{where + "the footer counts " + std::to_string(counted) + " lines of type " +
                     noun + ", the file holds " + std::to_string(there)};
      }
    }
    for (const auto* numbers : {&calls_, &enters_}) {
      if (!numbers->empty() && *numbers->rbegin() > footer.seq) {
        return Error{where + "the footer knows of " + std::to_string(footer.seq) +
                     " calls, the file holds number " + std::to_string(*numbers->rbegin())};
      }
    }
    switch (read_seal(text)) {
      case Seal::whole:
        return {};
      case Seal::absent:
        return Error{where + "the footer has no digest at its end"};
      case Seal::broken:
        break;
    }
    return Error{where + "the file is not as it was written: its digest is another"};
  }

 private:
  struct Count {
    const char* noun;
    std::int64_t counted;
    std::size_t there;
  };

  static void once(std::set<std::int64_t>& numbers, const char* what, std::int64_t seq,
                   JsonFields& fields) {
    if (seq < 1) {
      fields.fail("'seq' is out of range");
    } else if (!numbers.insert(seq).second) {
      fields.fail("a second " + std::string(what) + " " + std::to_string(seq));
    }
  }

  std::set<std::int64_t> calls_, enters_;
  std::size_t footer_line_ = 0;
};

}  // namespace

bool looks_like_rank_lines(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find("\"symm-cts/evidence/") != std::string_view::npos &&
         line.find("\"header\"") != std::string_view::npos;
}

Result<RankEvidence> read_rank_lines(const std::string& path, std::string_view text) {
  RankEvidence rank;
  rank.file = path;
  Consistency consistency;
  const Status status = for_each_line(
      path, text, rank.notes, [&](const std::string& type, JsonFields& fields, std::size_t line) {
        consistency.place(type, fields, line);
        read_rank_line(type, fields, line, rank);
        consistency.see(type, fields, line, rank);
      });
  if (!status) {
    return Error{status.error()};
  }
  if (rank.header.rank < 0) {
    return Error{path + ": cut off before its header"};
  }
  if (const Status agrees = consistency.agrees(rank, text, !rank.notes.empty()); !agrees) {
    return Error{agrees.error()};
  }
  rank.broken = static_cast<std::int64_t>(rank.notes.size());
  if (rank.dropped > 0) {
    rank.notes.push_back("the profiler dropped " + std::to_string(rank.dropped) + " records");
  }
  if (!rank.footer) {
    rank.cut = "no footer: the rank did not end by itself";
  } else if (rank.footer->seq > rank.footer->calls) {
    const std::int64_t open = rank.footer->seq - rank.footer->calls;
    rank.cut = std::to_string(open) + (open == 1 ? " call" : " calls") +
               " had not come back when the rank ended";
  }
  if (!rank.cut.empty()) {
    rank.notes.push_back(rank.cut);
  }
  return rank;
}

}  // namespace symmcts::evidence
