#include "conformance/defects/defects.hpp"
#include "harness/adapter/implementation.hpp"
#include "harness/adapter/reference.hpp"

namespace symmcts {

const std::vector<ImplementationEntry>& implementations() {
  static const std::vector<ImplementationEntry> entries = [] {
    std::vector<ImplementationEntry> list;
    list.push_back(
        {.name = "reference",
         .summary = "the reference implementation",
         .caught_by = {},
         .source = {},
         .needs = {},
         .make = [] { return make_reference("reference", symm_mem::establish_multicast); }});
    for (const defects::Defect& defect : defects::all()) {
      const std::string name = "defect:" + std::string(defect.name);
      list.push_back({.name = name,
                      .summary = std::string(defect.summary),
                      .caught_by = std::string(defect.caught_by),
                      .source = std::string(defect.source),
                      .needs = std::string(defect.needs),
                      .make = [name, order = defect.order, all_gather = defect.all_gather] {
                        return make_reference(
                            name, order == nullptr ? symm_mem::establish_multicast : order,
                            all_gather);
                      }});
    }
    return list;
  }();
  return entries;
}

}  // namespace symmcts
