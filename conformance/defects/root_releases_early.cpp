// torchcomms#3506, as it was before: the root imports its own export, as it should, and drops the
// create reference at once. A fabric handle is 64 bytes and holds nothing: a peer that imports
// after that is given a fresh, empty object, and told that all is well. It adds its device to
// that object, every rank votes yes, and every bind waits for ever for a device that never comes.
// SM-LIFE-1 must catch it. By descriptor nothing happens: the descriptor is itself a reference.
#include "conformance/defects/defects.hpp"

namespace symmcts::defects {

using symm_mem::Phase;
using symm_mem::Status;

Status root_releases_early(symm_mem::Multicast& multicast) {
  Status agreed = multicast.share(multicast.create_and_export());
  if (!agreed) return agreed;

  Status mine = multicast.import_object();
  if (mine) mine = multicast.release_create_reference();  // the defect: no vote before it
  if (mine) mine = multicast.add_device();
  agreed = multicast.vote(Phase::add_device, std::move(mine));
  if (!agreed) return agreed;

  mine = multicast.bind();
  if (mine) mine = multicast.map();
  return multicast.vote(Phase::map_multicast, std::move(mine));
}

}  // namespace symmcts::defects
