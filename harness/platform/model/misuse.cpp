#include "harness/platform/model/misuse.hpp"

namespace symmcts::platform {

std::string misuse_text(const Misuse& misuse) {
  if (misuse.kind == "leak") {
    const std::string plural = misuse.count == 1 ? "" : "s";
    return "left at exit: " + std::to_string(misuse.count) + ' ' + misuse.what + plural +
           (misuse.count == 1 ? ", made by " : ", the first made by ") + misuse.call + " at " +
           std::to_string(misuse.at) + " ns";
  }
  std::string kind = "garbage instead";
  if (misuse.kind == "use-after-release") kind = "use after release";
  if (misuse.kind == "double-release") kind = "double release";
  return kind + " of a " + misuse.what + " in " + misuse.call;
}

}  // namespace symmcts::platform
