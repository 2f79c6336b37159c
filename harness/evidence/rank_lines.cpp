#include "harness/evidence/json_lines.hpp"

#include "harness/evidence/each_line.hpp"
#include "harness/evidence/json_fields.hpp"

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
  header.clock = fields.need_text("clock");
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
    rank.footer = Footer{fields.number("calls", 0), fields.number("copies", 0),
                         fields.flag("deterministic", false)};
  } else {
    fields.fail("unknown type '" + type + "'");
  }
}

}  // namespace

bool looks_like_rank_lines(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find("\"symm-cts/evidence/") != std::string_view::npos &&
         line.find("\"header\"") != std::string_view::npos;
}

Result<RankEvidence> read_rank_lines(const std::string& path, std::string_view text) {
  RankEvidence rank;
  rank.file = path;
  const Status status =
      for_each_line(path, text, rank.notes,
                    [&rank](const std::string& type, JsonFields& fields, std::size_t line) {
                      if (line == 1 && type != "header") {
                        fields.fail("the first line is no header");
                      }
                      read_rank_line(type, fields, line, rank);
                    });
  if (!status) {
    return Error{status.error()};
  }
  if (rank.header.rank < 0) {
    return Error{path + ": cut off before its header"};
  }
  rank.broken = static_cast<std::int64_t>(rank.notes.size());
  const auto lacks = [&rank](const std::string& what) {
    rank.notes.push_back(what);
    rank.partial = what;
  };
  if (rank.dropped > 0) {
    lacks("the profiler dropped " + std::to_string(rank.dropped) + " records");
  }
  if (!rank.footer) {
    lacks("no footer: the rank did not end by itself");
  } else if (const auto copies = static_cast<std::int64_t>(rank.copies.size());
             copies != rank.footer->copies) {
    lacks("the footer tells of " + std::to_string(rank.footer->copies) + " copies, the file of " +
          std::to_string(copies));
  }
  return rank;
}

}  // namespace symmcts::evidence
