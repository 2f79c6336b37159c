// Exports and imports: A4, A16 and the measured table.
#include <fcntl.h>
#include <unistd.h>

#include "tests/fuzz/actions.hpp"

namespace symmcts::fuzz {
namespace {

constexpr std::size_t kMost = 24;

void export_fd(Session& s) {
  World& w = s.world;
  if (w.handles.empty() || w.descriptors.size() >= kMost) return;
  const HandlePtr handle = s.draw.from(w.handles).second;
  int fd = -1;
  void* out = &fd;
  auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  unsigned long long flags = 0;
  // An imported handle is INVALID_VALUE (measured), and so is a type that was not asked for.
  const bool legal = handle->native && (handle->object->types & kFd) != 0;
  Expect expected = legal ? Expect::success() : Expect::invalid();
  switch (s.draw.below(10)) {
    case 0:
      flags = 1;
      expected = Expect::invalid();
      break;
    case 1:
      out = nullptr;
      expected = Expect::invalid();
      break;
    case 2:
      type = CU_MEM_HANDLE_TYPE_NONE;
      expected = Expect::invalid();
      break;
    default:
      break;
  }
  if (!s.call("export descriptor of " + name(*handle->object), expected,
              [&] { return s.cu.cuMemExportToShareableHandle(out, handle->value, type, flags); })) {
    return;
  }
  s.check(fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0, "export: closes on exec (measured)");
  s.check(w.descriptors.count(fd) == 0, "export: a descriptor that is open already");
  w.descriptors[fd] = handle->object;
}

void close_fd(Session& s) {
  World& w = s.world;
  if (w.descriptors.empty()) return;
  const auto [fd, object] = s.draw.from(w.descriptors);
  s.journal.begin("close a descriptor of " + name(*object));
  const int result = close(fd);
  s.journal.end(std::to_string(result));
  w.descriptors.erase(fd);
  w.collect();
}

void took(Session& s, CUmemGenericAllocationHandle value, const ObjectPtr& object) {
  s.check(s.world.handles.count(value) == 0, "import: a handle that is held already (A4.6)");
  s.world.handles[value] = std::make_shared<Handle>(Handle{value, object, false, 1});
}

void import_fd(Session& s) {
  World& w = s.world;
  if (w.handles.size() >= kMost) return;
  CUmemGenericAllocationHandle value = 0, *out = &value;
  auto type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  std::intptr_t fd = -1;
  ObjectPtr object;
  Expect expected = Expect::exactly(CUDA_ERROR_UNKNOWN);
  int own = -1;
  if (!w.descriptors.empty() && !s.draw.once_in(4)) {
    std::tie(fd, object) = s.draw.from(w.descriptors);
    expected = Expect::success();
    if (s.draw.once_in(8)) out = nullptr, expected = Expect::invalid();
    if (s.draw.once_in(8)) type = CU_MEM_HANDLE_TYPE_NONE, expected = Expect::invalid();
  } else if (s.draw.once_in(2)) {
    own = open("/dev/null", O_RDONLY | O_CLOEXEC);  // a descriptor of something else: measured
    fd = own;
    if (own == 0) expected = Expect::invalid();
  } else {
    fd = s.draw.of<std::intptr_t>({-1, 900, 1 << 30});
  }
  const bool done = s.call("import descriptor", expected, [&] {
    return s.cu.cuMemImportFromShareableHandle(out, reinterpret_cast<void*>(fd), type);
  });
  if (own >= 0) close(own);
  if (done) took(s, value, object);
}

void export_fabric(Session& s) {
  World& w = s.world;
  if (w.handles.empty() || w.tokens.size() >= kMost) return;
  const HandlePtr handle = s.draw.from(w.handles).second;
  const bool legal = handle->native && (handle->object->types & kFabric) != 0;
  CUmemFabricHandle token{};
  if (s.call("export token of " + name(*handle->object),
             legal ? Expect::success() : Expect::invalid(), [&] {
               return s.cu.cuMemExportToShareableHandle(&token, handle->value,
                                                        CU_MEM_HANDLE_TYPE_FABRIC, 0);
             })) {
    w.tokens.emplace_back(token, handle->object);
  }
}

void import_fabric(Session& s) {
  World& w = s.world;
  if (w.handles.size() >= kMost) return;
  CUmemGenericAllocationHandle value = 0;
  CUmemFabricHandle token{};
  ObjectPtr object;
  // Garbage: measured without a channel; with one no other code is listed (A4.16).
  Expect expected = w.fabric ? Expect::invalid() : Expect::exactly(CUDA_ERROR_NOT_SUPPORTED);
  if (!w.tokens.empty() && !s.draw.once_in(6)) {
    auto& [bytes, weak] = s.draw.from(w.tokens);
    token = bytes;
    object = weak.lock();
    // Of a token whose creator's reference is gone nothing else is reported than A4.8.
    if (!object || !w.created_here(*object))
      object = nullptr, expected = Expect::anything();
    else
      expected = Expect::success();
    if (s.draw.once_in(8)) {
      token.data[s.draw.below(sizeof token.data)] ^= 0x40;
      expected = Expect::failure();
    }
  }
  if (!s.call("import token", expected, [&] {
        return s.cu.cuMemImportFromShareableHandle(&value, &token, CU_MEM_HANDLE_TYPE_FABRIC);
      })) {
    return;
  }
  if (!object) {  // a fresh multicast object, which is nobody else's (A4.8)
    object = std::make_shared<Object>();
    object->number = ++w.made;
    object->multicast = true;
    object->types = kFabric;
  }
  took(s, value, object);
}

}  // namespace

std::vector<Choice> sharing_actions() {
  return {{export_fd, 6}, {close_fd, 5}, {import_fd, 7}, {export_fabric, 3}, {import_fabric, 4}};
}

}  // namespace symmcts::fuzz
