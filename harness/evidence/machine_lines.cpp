#include "harness/evidence/each_line.hpp"
#include "harness/evidence/json_fields.hpp"
#include "harness/evidence/json_lines.hpp"

namespace symmcts::evidence {
namespace {

using nlohmann::json;

Hang read_hang(JsonFields& fields) {
  Hang hang;
  hang.source = fields.need_text("source");
  hang.case_name = fields.text("case");
  hang.text = fields.text("text");
  if (const json* ranks = fields.array("ranks")) {
    for (const json& rank : *ranks) {
      JsonFields members(rank);
      hang.ranks.push_back({static_cast<int>(members.need_number("rank")), members.text("phase"),
                            members.text("where"), members.text("calls")});
      fields.fail(members.problem());
    }
  }
  if (const json* objects = fields.array("objects")) {
    for (const json& object : *objects) {
      JsonFields members(object);
      HungObject hung;
      const auto creator = object.find("creator");
      if (creator != object.end() && !creator->is_null()) {
        hung.creator =
            creator->is_string() ? creator->get<std::string>() : "rank " + creator->dump();
      }
      hung.devices = members.number("devices");
      hung.missing = members.texts("missing");
      hung.empty = members.flag("empty", false);
      hang.objects.push_back(std::move(hung));
      fields.fail(members.problem());
    }
  }
  return hang;
}

Misuse read_misuse(JsonFields& fields) {
  Misuse misuse;
  misuse.rank = static_cast<int>(fields.need_number("rank"));
  misuse.kind = fields.need_text("kind");
  misuse.what = fields.text("what");
  misuse.call = fields.text("call");
  misuse.t = fields.need_amount("t");
  misuse.count = fields.number("count", 1);
  misuse.text = fields.text("text");
  return misuse;
}

void read_machine_line(const std::string& type, JsonFields& fields, MachineEvidence& machine) {
  if (type == "hang") {
    machine.hangs.push_back(read_hang(fields));
  } else if (type == "exit") {
    machine.exits.push_back({static_cast<int>(fields.need_number("rank")), fields.text("case"),
                             static_cast<int>(fields.number("code", 0)),
                             static_cast<int>(fields.number("signal", 0))});
  } else if (type == "unit") {
    machine.units.push_back(
        {fields.text("case"), fields.texts("ids"), fields.need_text("end"), fields.text("text")});
  } else if (type == "misuse") {
    machine.misuses.push_back(read_misuse(fields));
  } else {
    fields.fail("unknown type '" + type + "'");
  }
}

}  // namespace

Result<MachineEvidence> read_machine_lines(const std::string& path, std::string_view text) {
  MachineEvidence machine;
  machine.file = path;
  const Status status =
      for_each_line(path, text, machine.notes,
                    [&machine](const std::string& type, JsonFields& fields, std::size_t) {
                      read_machine_line(type, fields, machine);
                    });
  if (!status) {
    return Error{status.error()};
  }
  return machine;
}

}  // namespace symmcts::evidence
