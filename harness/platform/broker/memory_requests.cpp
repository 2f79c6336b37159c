// BrokerState: requests about memory, handles and mappings.
#include <fcntl.h>

#include "harness/platform/broker/broker_state.hpp"

namespace symmcts::platform {
namespace {

UniqueFd copy_of(int fd) { return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)); }

}  // namespace

BrokerState::Answer BrokerState::handle_answer(Code code, const HandleInfo& info) const {
  Answer answer{code, 0, {}, {}};
  if (code == Code::success) answer.fields = WireWriter().put(info).bytes();
  return answer;
}

BrokerState::Answer BrokerState::export_descriptor(Request& request) {
  std::uint64_t id = 0;
  Answer answer;
  answer.code =
      machine_.export_descriptor(request.client, request.fields.take<std::uint64_t>(), id);
  if (answer.code != Code::success) return answer;
  answer.fd = outlet_.open_descriptor(id);
  if (!answer.fd) {
    machine_.close_descriptor(id);
    answer.code = Code::out_of_memory;
  }
  return answer;
}

bool BrokerState::handle_memory(Op op, Request& request) {
  WireReader& in = request.fields;
  const ClientId client = request.client;
  HandleInfo info;
  switch (op) {
    case Op::create_memory: {
      const auto gpu = in.take<std::int32_t>();
      const auto size = in.take<std::uint64_t>();
      const auto types = in.take<std::uint32_t>();
      const Code code = machine_.create_memory(client, gpu, size, types, info);
      reply(request, handle_answer(code, info));
      return true;
    }
    case Op::release:
      reply(request, {machine_.release(client, in.take<std::uint64_t>()), 0, {}, {}});
      forget_freed();
      return true;
    case Op::retain:
      reply(request, {machine_.retain(client, in.take<std::uint64_t>()), 0, {}, {}});
      return true;
    case Op::export_fd:
      reply(request, export_descriptor(request));
      return true;
    case Op::export_fabric: {
      FabricToken token{};
      Answer answer;
      answer.code = machine_.export_fabric(client, in.take<std::uint64_t>(), token);
      answer.fields = WireWriter().put(token).bytes();
      reply(request, std::move(answer));
      return true;
    }
    case Op::import_fd: {
      const auto id = outlet_.find_descriptor(request.fd.get());
      const Code code = id ? machine_.import_descriptor(client, *id, info) : Code::unknown;
      reply(request, handle_answer(code, info));
      return true;
    }
    case Op::import_fabric: {
      const Code code = machine_.import_fabric(client, in.take<FabricToken>(), info);
      reply(request, handle_answer(code, info));
      return true;
    }
    case Op::map: {
      const Ns now = request.now;
      const auto handle = in.take<std::uint64_t>();
      reply_or_park(request, handle, [this, client, now, handle]() -> std::optional<Answer> {
        std::uint64_t mapping = 0;
        const TeamCall call = machine_.map(client, handle, now, mapping);
        if (call.waits) return std::nullopt;
        Answer answer{call.code, call.at, WireWriter().put(mapping).bytes(), {}};
        if (call.code != Code::success) return answer;
        const MachineMemory* memory = machine_.memory_of_handle(handle);
        if (memory != nullptr && !(answer.fd = copy_of(memory->fd()))) {
          machine_.unmap(client, mapping);
          answer.code = Code::out_of_memory;
        }
        return answer;
      });
      return true;
    }
    case Op::unmap:
      reply(request, {machine_.unmap(client, in.take<std::uint64_t>()), 0, {}, {}});
      forget_freed();
      return true;
    case Op::memory_fd: {
      std::uint64_t size = 0;
      const MachineMemory* memory = machine_.memory(in.take<std::uint64_t>(), size);
      Answer answer{Code::invalid_value, 0, WireWriter().put(size).bytes(), {}};
      if (memory != nullptr) {
        answer.fd = copy_of(memory->fd());
        answer.code = answer.fd ? Code::success : Code::out_of_memory;
      }
      reply(request, std::move(answer));
      return true;
    }
    default:
      return false;
  }
}

}  // namespace symmcts::platform
