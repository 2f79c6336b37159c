#include "harness/platform/broker/misuse_report.hpp"

#include <nlohmann/json.hpp>

namespace symmcts::platform {

std::string misuse_json(int rank, const Misuse& misuse) {
  nlohmann::ordered_json line;
  line["type"] = "misuse";
  line["rank"] = rank;
  line["t"] = misuse.at;
  line["kind"] = misuse.kind;
  line["what"] = misuse.what;
  line["call"] = misuse.call;
  line["count"] = misuse.count;
  line["text"] = misuse_text(misuse);
  return line.dump();
}

}  // namespace symmcts::platform
