#include "symm_mem/team.hpp"

#include "symm_mem/route.hpp"

namespace symm_mem {

Team::Team(Exchange& exchange, Group group, TeamOptions options)
    : order_(options.multicast_order),
      retry_(options.retry),
      stream_(options.stream),
      agreement_(exchange, std::move(group), options.deadline),
      site_{.device = options.device, .context = options.context, .agreement = &agreement_} {
  if (options.on_phase) {
    site_.on_phase = [told = std::move(options.on_phase)](Phase phase) { told(phase_name(phase)); };
  }
}

// SM-CAPT-1. Asked of the stream itself, which changes nothing. On the legacy stream the driver
// answers IMPLICIT beside the capture of a blocking stream (measured on H200: that capture goes
// on).
Status Team::not_captured(const char* call) const {
  const ContextScope scope(site_.context, Phase::open);
  if (!scope.status()) return scope.status();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult asked = cuStreamIsCapturing(stream_, &status);
  if (asked == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_NONE) return {};
  if (asked != CUDA_SUCCESS && asked != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
    return check(asked, "cuStreamIsCapturing", Phase::open);
  }
  return Error{.call = call,
               .code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
               .phase = Phase::open,
               .text = "a stream is being captured, and set-up cannot be part of a graph"};
}

Result<std::unique_ptr<Team>> Team::open(Exchange& exchange, TeamOptions options) {
  Result<Group> group = make_group(exchange, options.group, options.members, options.root);
  if (!group) return group.error();
  const std::uint32_t routes = options.allowed_routes;
  const MulticastPermit permit = options.permit;
  std::unique_ptr<Team> team(new Team(exchange, group.take(), std::move(options)));
  Site& site = team->site_;
  const CaptureTolerance tolerance;

  site.enter(Phase::open);
  Status ready = team->not_captured("Team::open");
  Capability mine;
  if (ready) ready = probe_capability(site.device, routes, permit, mine);
  const Result<std::vector<Bytes>> records =
      team->agreement_.all_gather(Phase::open, std::move(ready), pack(mine));
  if (!records) return records.error();

  std::vector<Capability> capabilities(records.value().size());
  for (std::size_t i = 0; i < capabilities.size(); ++i) {
    if (unpack(records.value()[i], capabilities[i])) continue;
    return Error{.call = "Team::open",
                 .rank = team->group().members[i],
                 .text = "capability record of another version"};
  }
  Result<Terms> terms = agree_on_route(team->agreement_, site.device, std::move(capabilities));
  if (!terms) return terms.error();
  site.terms = terms.take();
  return team;
}

Result<std::unique_ptr<Block>> Team::make_block(std::size_t bytes) {
  auto block = std::make_unique<Block>(site_);
  const CaptureTolerance tolerance;
  const Status agreed = block->establish(bytes, order_, retry_, not_captured("Team::make_block"));
  if (!agreed) return agreed.error();
  return block;
}

Status Team::close() { return agreement_.barrier(Phase::teardown); }

}  // namespace symm_mem
