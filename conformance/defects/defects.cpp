#include "conformance/defects/defects.hpp"

namespace symmcts::defects {

const std::vector<Defect>& all() {
  static const std::vector<Defect> defects = {
      {.name = "missing-event-wait",
       .summary = "copies on a stream of its own, and signals without waiting for the copy",
       .caught_by = "SM-DATA-3",
       .source = "ROCm/hcc#643",
       .needs = "",
       .order = nullptr,
       .all_gather = missing_event_wait},
      {.name = "root-keeps-native",
       .summary = "the root binds and maps through the handle that cuMulticastCreate gave it",
       .caught_by = "SM-PROV-1",
       .source = "pytorch#192530",
       .needs = "",
       .order = root_keeps_native,
       .all_gather = nullptr},
      {.name = "root-releases-early",
       .summary = "the root drops its create reference right after its own import",
       .caught_by = "SM-LIFE-1",
       .source = "torchcomms#3506",
       .needs = "fabric",  // an open descriptor is itself a reference
       .order = root_releases_early,
       .all_gather = nullptr},
  };
  return defects;
}

}  // namespace symmcts::defects
