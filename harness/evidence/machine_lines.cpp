#include "harness/evidence/each_line.hpp"
#include "harness/evidence/json_fields.hpp"
#include "harness/evidence/json_lines.hpp"
#include "harness/support/seal.hpp"

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

ScenarioFault read_fault(JsonFields& fields) {
  ScenarioFault fault;
  fault.rank = static_cast<int>(fields.need_number("rank"));
  if (fields.number("t") != kAbsent) fault.t = fields.need_amount("t");
  fault.entry = fields.need_text("entry");
  fault.kind = fields.need_text("kind");
  if (fault.kind != "fail" && fault.kind != "stall" && fault.kind != "kill" &&
      fault.kind != "stop") {
    fields.fail("unknown kind of fault '" + fault.kind + "'");
  }
  fault.when = fields.need_text("when");
  fault.at = fields.need_text("at");
  fault.number = fields.need_amount("number");
  fault.code = fields.number("code", 0);
  fault.ns = fields.number("ns", 0);
  fault.text = fields.text("text");
  return fault;
}

Race read_race(JsonFields& fields) {
  Race race;
  const std::string kind = fields.need_text("class");
  race.certain = kind == "certain";
  if (!race.certain && kind != "suspect") fields.fail("'class' is neither certain nor suspect");
  if (const json* accesses = fields.array("accesses")) {
    for (const json& access : *accesses) {
      JsonFields members(access);
      RaceParty party;
      party.rank = static_cast<int>(members.need_number("rank"));
      party.stream = members.need_amount("stream");
      party.call = members.need_text("call");
      party.correlation = members.number("corr");
      party.access = members.need_text("access");
      fields.fail(members.problem());
      race.accesses.push_back(std::move(party));
    }
  }
  if (race.accesses.size() != 2) fields.fail("'accesses' must hold two");
  race.bytes = fields.need_amount("bytes");
  race.count = fields.number("count", 1);
  race.text = fields.text("text");
  return race;
}

void read_machine_line(const std::string& type, JsonFields& fields, MachineEvidence& machine) {
  if (type == "hang") {
    machine.hangs.push_back(read_hang(fields));
  } else if (type == "exit") {
    machine.exits.push_back({static_cast<int>(fields.need_number("rank")), fields.text("case"),
                             static_cast<int>(fields.number("code", 0)),
                             static_cast<int>(fields.number("signal", 0))});
  } else if (type == "unit") {
    UnitEnd unit{.case_name = fields.text("case"),
                 .run = fields.text("run"),
                 .ids = fields.texts("ids"),
                 .end = fields.need_text("end"),
                 .text = fields.text("text"),
                 .ranks = {}};
    for (const std::int64_t rank : fields.numbers("ranks")) {
      unit.ranks.push_back(static_cast<int>(rank));
    }
    machine.units.push_back(std::move(unit));
  } else if (type == "fault") {
    machine.faults.push_back(read_fault(fields));
  } else if (type == "misuse") {
    machine.misuses.push_back(read_misuse(fields));
  } else if (type == "race") {
    machine.races.push_back(read_race(fields));
  } else if (type == "race-check") {
    machine.race_checks.push_back({fields.need_amount("accesses"), fields.flag("whole", false)});
  } else {
    fields.fail("unknown type '" + type + "'");
  }
}

}  // namespace

Result<MachineEvidence> read_machine_lines(const std::string& path, std::string_view text) {
  MachineEvidence machine;
  machine.file = path;
  std::size_t last = 0;
  const Status status =
      for_each_line(path, text, machine.notes,
                    [&](const std::string& type, JsonFields& fields, std::size_t line) {
                      if (!machine.units.empty()) {
                        fields.fail("a line after the unit's");
                      }
                      read_machine_line(type, fields, machine);
                      last = line;
                    });
  if (!status) {
    return Error{status.error()};
  }
  machine.cut = machine.units.empty();
  if (machine.cut) {
    machine.notes.push_back("no unit line: the file was cut");
  } else if (!machine.notes.empty()) {
    return Error{path + ":" + std::to_string(last) + ": the file goes on after the unit's line"};
  } else if (const Seal seal = read_seal(text); seal != Seal::whole) {
    return Error{path + ":" + std::to_string(last) + ": " +
                 (seal == Seal::absent ? "the unit's line has no digest at its end"
                                       : "the file is not as it was written: its digest is "
                                         "another")};
  }
  return machine;
}

}  // namespace symmcts::evidence
