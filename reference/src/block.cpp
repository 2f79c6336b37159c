#include "symm_mem/block.hpp"

namespace symm_mem {

Block::Block(const Site& site)
    : site_(site),
      me_(site.agreement->group().me),
      unicast_{.site = site},
      multicast_{.site = site, .memory = unicast_.memory},
      why_no_multicast_(site.terms.why_no_multicast),
      sent_(site.agreement->group().members.size()),
      awaited_(site.agreement->group().members.size()) {}

Status Block::establish(std::size_t bytes, MulticastOrder order) {
  Status agreed = establish_unicast(unicast_, bytes);
  if (!agreed) return agreed;

  if (site_.terms.multicast) {
    multicast_.bytes = unicast_.layout.total;
    const Status built = order(multicast_);
    if (!built) {
      why_no_multicast_ = built.error().line();
      // Every rank comes here with the same verdict and undoes the same steps.
      const Status undone = multicast_.close();
      if (!undone) why_no_multicast_ += "; undoing it: " + undone.error().line();
    }
  }
  // Past this barrier peers may write: all ranks have mapped, and all pads were zero before anyone
  // could (SM-SIG-1, SM-SIG-5).
  agreed = site_.agreement->barrier(Phase::ready);
  if (agreed) site_.enter(Phase::ready);
  return agreed;
}

Status Block::close() {
  site_.enter(Phase::teardown);
  Status first;
  {
    const ContextScope scope(site_.context, Phase::teardown);
    keep_first(first, scope.status());
    if (scope.status()) {
      keep_first(first, check(cuCtxSynchronize(), "cuCtxSynchronize", Phase::teardown));
    }
  }
  // No rank unbinds or frees while another one's writes are in flight (SM-TEAR-3). A peer that is
  // gone does not keep this rank from freeing what it has.
  keep_first(first, site_.agreement->vote(Phase::teardown, first));
  keep_first(first, multicast_.close());
  keep_first(first, unicast_.close());
  return first;
}

}  // namespace symm_mem
