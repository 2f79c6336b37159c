#include "harness/platform/broker/fault_report.hpp"

#include <nlohmann/json.hpp>

namespace symmcts::platform {
namespace {

using json = nlohmann::ordered_json;

const char* when_name(RankFault::When when) {
  switch (when) {
    case RankFault::When::before:
      return "before";
    case RankFault::When::after:
      return "after";
    case RankFault::When::phase:
      return "phase";
  }
  return "before";
}

// `number` 0: as the scenario has it.
void put_rest(json& line, const RankFault& fault, std::uint64_t number) {
  line["entry"] = fault.entry;
  line["kind"] = kind_name(fault.kind);
  line["when"] = when_name(fault.when);
  line["at"] = fault.at;
  line["number"] = number == 0 ? fault.number : number;
  if (fault.kind == RankFault::Kind::fail) line["code"] = fault.code;
  if (fault.kind == RankFault::Kind::stall) line["ns"] = fault.ns;
  line["text"] = fault_text(fault, number);
}

}  // namespace

std::string fault_json(const RankFault& fault, std::uint64_t number, Ns at) {
  json line = {{"type", "fault"}, {"rank", fault.rank}, {"t", at}};
  put_rest(line, fault, number);
  return line.dump();
}

std::string plan_json(const std::vector<RankFault>& faults) {
  json line = {{"type", "plan"}, {"faults", json::array()}};
  for (const RankFault& fault : faults) {
    json entry = {{"type", "fault"}, {"rank", fault.rank}, {"t", nullptr}};
    put_rest(entry, fault, 0);
    line["faults"].push_back(std::move(entry));
  }
  return line.dump();
}

}  // namespace symmcts::platform
