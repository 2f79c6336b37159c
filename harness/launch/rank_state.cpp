#include "harness/launch/rank_state.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

namespace symmcts::launch {
namespace {

using nlohmann::json;

std::string text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

long long number_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<long long>() : -1;
}

class Reader {
 public:
  Reader(RankState& state, const std::string& unit) : state_(state), unit_(unit) {}

  // False if the line is no evidence.
  bool take(const std::string& line) {
    const json object = json::parse(line, nullptr, false);
    if (!object.is_object()) return false;
    const std::string type = text_of(object, "type");
    if (type.empty()) return false;
    if (type == "header") state_.header = true;
    if (type == "footer") state_.footer = true;
    if (type == "enter") {
      open_ = number_of(object, "seq");
      state_.where = text_of(object, "name");
    }
    if (type == "call" && number_of(object, "seq") >= open_) state_.where.clear();
    if (type == "mark") take_mark(object);
    return true;
  }

 private:
  void take_mark(const json& object) {
    const std::string what = text_of(object, "what");
    if (what == "phase") state_.phase = text_of(object, "phase");
    if (what == "give-up") take_give_up(object);
    if (what == "case-end" && text_of(object, "case") == unit_) state_.verdict = true;
  }

  void take_give_up(const json& object) {
    const std::string cause = text_of(object, "cause");
    state_.gave_up = cause == "threw"  ? GaveUp::threw
                     : cause == "peer" ? GaveUp::lost_peer
                                       : GaveUp::refusal;
    state_.gave_up_text = text_of(object, "text");
    const auto ranks = object.find("ranks");
    if (ranks != object.end() && ranks->is_array() && !ranks->empty() &&
        ranks->front().is_number_integer()) {
      state_.lost = ranks->front().get<int>();
    }
  }

  RankState& state_;
  const std::string& unit_;
  long long open_ = 0;
};

}  // namespace

RankState read_rank_state(const std::filesystem::path& file, int rank, const std::string& unit) {
  RankState state;
  state.rank = rank;
  std::ifstream in(file);
  Reader reader(state, unit);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const bool good = reader.take(line);
    // Without its newline a line may be half of one: the rank was cut off, or is still writing.
    if (in.eof()) {
      state.truncated = true;
    } else if (!good && state.problem.empty()) {
      state.problem = "line " + std::to_string(number) + " is not an evidence record";
    }
  }
  return state;
}

}  // namespace symmcts::launch
