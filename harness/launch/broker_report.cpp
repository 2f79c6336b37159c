#include "harness/launch/broker_report.hpp"

#include <fstream>

namespace symmcts::launch {

void each_record(const std::filesystem::path& report,
                 const std::function<void(const std::string& line,
                                          const nlohmann::ordered_json& record)>& each) {
  std::ifstream in(report);
  for (std::string line; std::getline(in, line) && !in.eof();) {
    const auto record = nlohmann::ordered_json::parse(line, nullptr, false);
    if (record.is_object()) each(line, record);
  }
}

}  // namespace symmcts::launch
