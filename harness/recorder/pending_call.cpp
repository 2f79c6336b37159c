#include "harness/recorder/pending_call.hpp"

#include <memory>
#include <utility>

namespace symmcts::recorder {
namespace {

struct Node {
  PendingCall call;
  Node* below = nullptr;
};

// A plain pointer: it has no destructor, so that calls made while the thread's other objects are
// being destroyed still find it.
thread_local Node* top = nullptr;

}  // namespace

void push_pending(PendingCall call) { top = new Node{std::move(call), top}; }

bool pop_pending(std::uint32_t correlation, PendingCall& call) {
  Node* found = top;
  while (found != nullptr && found->call.correlation != correlation) found = found->below;
  if (found == nullptr) return false;
  while (true) {
    const std::unique_ptr<Node> node(top);
    top = node->below;
    if (node.get() != found) continue;
    call = std::move(node->call);
    return true;
  }
}

}  // namespace symmcts::recorder
