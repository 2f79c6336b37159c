#include "conformance/defects/defects.hpp"

namespace symmcts::defects {

const std::vector<Defect>& all() {
  static const std::vector<Defect> defects = {
      {.name = "root-keeps-native",
       .summary = "the root binds and maps through the handle that cuMulticastCreate gave it",
       .caught_by = "SM-PROV-1",
       .source = "pytorch#192530",
       .needs = "",
       .order = root_keeps_native},
      {.name = "root-releases-early",
       .summary = "the root drops its create reference right after its own import",
       .caught_by = "SM-LIFE-1",
       .source = "torchcomms#3506",
       .needs = "fabric",  // an open descriptor is itself a reference
       .order = root_releases_early},
  };
  return defects;
}

}  // namespace symmcts::defects
