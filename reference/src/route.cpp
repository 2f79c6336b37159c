#include "symm_mem/route.hpp"

#include "symm_mem/handles.hpp"
#include "symm_mem/shareable.hpp"
#include "wire.hpp"

namespace symm_mem {
namespace {

// What came of one step of a trial on one rank, as the others are told: nothing, or why there is no
// such route. Any other failure stays a failure of the rank.
Bytes obstacle_in(Status& step) {
  Writer writer;
  if (step || !means_no_route(step.error())) {
    writer.put_text("");
  } else {
    writer.put_text(step.error().line());
    step = Status();
  }
  return writer.take();
}

// The first rank's obstacle, with its rank, or "".
std::string first_obstacle(const Group& group, const std::vector<Bytes>& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string obstacle = Reader(records[i]).get_text();
    if (!obstacle.empty()) return "rank " + std::to_string(group.members[i]) + ": " + obstacle;
  }
  return "";
}

// One route on trial. Methods that are marked collective return the obstacle, or "".
struct Trial {
  Agreement& agreement;
  CUdevice device;
  Route route;
  std::size_t bytes;  // a granule
  PhysicalHandle memory{};
  Shareable shared{};

  Status create_and_export() {
    const CUmemAllocationProp properties = memory_properties(device, route);
    CUmemGenericAllocationHandle value = 0;
    const Status status =
        check(cuMemCreate(&value, bytes, &properties, 0), "cuMemCreate", Phase::open);
    if (!status) return status;
    memory = PhysicalHandle(value, Provenance::native);
    Result<Shareable> exported = export_handle(memory, route, Phase::open);
    if (!exported) return exported.status();
    shared = exported.take();
    return {};
  }

  // The reference and the mapping end with the scope, before the vote.
  Status import_and_map(const Shareable& neighbour) const {
    const Result<PhysicalHandle> imported = import_handle(neighbour, Phase::open);
    if (!imported) return imported.status();
    return MappedRange::map(imported.value(), bytes, bytes, device, Phase::open).status();
  }

  // Collective.
  Result<std::string> vote(Status step) {
    Bytes record = obstacle_in(step);
    const Result<std::vector<Bytes>> all =
        agreement.all_gather(Phase::open, std::move(step), std::move(record));
    if (!all) return all.error();
    return first_obstacle(agreement.group(), all.value());
  }

  // Collective.
  Result<std::string> run() {
    Result<std::string> obstacle = vote(create_and_export());
    if (!obstacle || !obstacle.value().empty()) return obstacle;
    const Result<Shareable> neighbour = pass_shareable(agreement, Phase::open, shared);
    if (!neighbour) return neighbour.error();
    return vote(import_and_map(neighbour.value()));
  }
};

}  // namespace

// NOT_PERMITTED: no IMEX channel (measured on H200, whose attribute says 1); NOT_SUPPORTED; a GPU
// that cannot be reached shows as INVALID_DEVICE (pytorch#174030), and one outside the NVLink
// domain as INVALID_VALUE, at the import or only at the access (nvbandwidth#44, facts A0.7).
// UNKNOWN is what the import of a descriptor says that names no memory here (measured on H200).
bool means_no_route(const Error& error) {
  switch (error.code) {
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
      return true;
    case CUDA_ERROR_UNKNOWN:
      return error.call == "cuMemImportFromShareableHandle";
    case CUDA_ERROR_INVALID_VALUE:
      return error.call == "cuMemImportFromShareableHandle" || error.call == "cuMemSetAccess";
    default:
      return false;
  }
}

Result<Terms> agree_on_route(Agreement& agreement, CUdevice device,
                             std::vector<Capability> capabilities) {
  std::string found;
  while (true) {
    Result<Terms> terms = agree_terms(agreement.group(), capabilities);
    if (!terms) {
      Error error = terms.error();
      error.text += found;
      return error;
    }
    const Route route = terms.value().route;
    Result<std::string> obstacle = Trial{agreement, device, route, terms.value().granularity}.run();
    if (!obstacle) return obstacle.error();
    if (obstacle.value().empty()) return terms;
    found += std::string("; ") + (route == Route::fabric ? "FABRIC" : "POSIX_FD") + ": " +
             obstacle.value();
    for (Capability& each : capabilities) each.routes &= ~static_cast<std::uint32_t>(route);
  }
}

}  // namespace symm_mem
