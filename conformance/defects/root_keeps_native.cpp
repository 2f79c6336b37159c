// pytorch#192530, as it was before: the root goes on with the handle that cuMulticastCreate gave
// it, and the other ranks with imported ones. The driver picks the copy path by that, so the
// root's copies to the multicast address are local ones (DtoD) behind its host transfers, where the
// other ranks' are peer copies (PtoP) beside them. SM-PROV-1 must catch it on any root; SM-KIND-1
// and SM-OVLP-1 do where the root's copies start from ordinal 0.
#include "conformance/defects/defects.hpp"

namespace symmcts::defects {

using symm_mem::Phase;
using symm_mem::Status;

Status root_keeps_native(symm_mem::Multicast& multicast) {
  Status agreed = multicast.share(multicast.create_and_export());
  if (!agreed) return agreed;

  Status mine;
  if (multicast.site.agreement->group().is_root()) {
    multicast.object = std::move(multicast.created);  // the defect: no import on the root
  } else {
    mine = multicast.import_object();
  }
  if (mine) mine = multicast.add_device();
  agreed = multicast.vote(Phase::add_device, std::move(mine));
  if (!agreed) return agreed;

  mine = multicast.bind();
  if (mine) mine = multicast.map();
  agreed = multicast.vote(Phase::map_multicast, std::move(mine));
  if (!agreed) return agreed;
  // The one reference of the root is the object's, given back at teardown.
  return multicast.vote(Phase::release_create, multicast.release_create_reference());
}

}  // namespace symmcts::defects
