#include "symm_mem/block.hpp"

namespace symm_mem {

Block::Block(const Site& site)
    : site_(site),
      me_(site.agreement->group().me),
      unicast_{.site = site},
      multicast_{.site = site, .unicast = unicast_},
      why_no_multicast_(site.terms.why_no_multicast),
      sent_(site.agreement->group().members.size()),
      awaited_(site.agreement->group().members.size()) {}

Block::~Block() {
  const ContextScope scope(site_.context, Phase::teardown);
  (void)lanes_.close(Phase::teardown);
  forget_uses();
}

Status Block::establish(std::size_t bytes, MulticastOrder order, const RetryPolicy& retry,
                        Status ready) {
  if (ready) {
    const ContextScope scope(site_.context, Phase::allocate);
    ready = scope.status();
    if (ready) ready = lanes_.open(site_.agreement->group().size() - 1);
  }
  Status agreed = establish_unicast(unicast_, bytes, std::move(ready));
  if (!agreed) return agreed;

  // SM-AGRE-4: whatever becomes of the multicast half, the unicast half stays as it is.
  if (site_.terms.multicast) {
    const Status built = establish_in_lockstep(multicast_, order, retry);
    if (!built) why_no_multicast_ = built.error().line();
  }
  // Past this barrier peers may write: all ranks have mapped, and all pads were zero before anyone
  // could (SM-SIG-1, SM-SIG-5).
  agreed = site_.agreement->barrier(Phase::ready);
  if (agreed) site_.enter(Phase::ready);
  return agreed;
}

Status Block::close() {
  site_.enter(Phase::teardown);
  Status first = come_to_rest();
  // No rank unbinds or frees while another one's writes are in flight (SM-TEAR-3). A peer that is
  // gone does not keep this rank from freeing what it has.
  keep_first(first, site_.agreement->vote(Phase::teardown, first));
  if (!at_rest_) {
    // Unmapping waits for the device, without a deadline.
    multicast_.abandon();
    unicast_.abandon();
    first.error().text += "; the memory stays allocated, since the device works on";
    return first;
  }
  // SM-TEAR-1: multicast before the memory that is bound to it. SM-TEAR-4: an error is kept for the
  // caller, and stops nothing.
  keep_first(first, multicast_.close());
  keep_first(first, unicast_.close());
  const ContextScope scope(site_.context, Phase::teardown);
  keep_first(first, scope.status());
  if (scope.status()) {
    keep_first(first, lanes_.close(Phase::teardown));
    forget_uses();
  }
  return first;
}

}  // namespace symm_mem
